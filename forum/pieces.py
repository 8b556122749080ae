"""Takes a post's clean text apart into what can be quoted by itself: sentences, list items, code, tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from forum.sentences import sentences


class Kind(StrEnum):
    """What a piece is; code and tables keep their line breaks."""

    SENTENCE = "sentence"
    #: The whole of a list item, without its bullet; a STEP's bullet is a number.
    ITEM = "item"
    STEP = "step"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Piece:
    """A verbatim piece of a text: `source[start:end] == text`."""

    kind: Kind
    text: str
    start: int
    end: int


_ITEM = re.compile(r"\s*(?:[-*•]|\d{1,3}[.)])\s+\S")
_BULLET = re.compile(r"\s*(?:[-*•]|\d{1,3}[.)])\s+")
_COMMAND = re.compile(
    r"\s*(?:[$#>] \S|(?:sudo|curl|wget|pip3?|apt(?:-get)?|git|cd|ls|make|docker|systemctl|journalctl|ssh|python3?|npm"
    r"|echo|export|mosquitto_\w+|esptool\S*|import|from|def|class|return|#include|for|while|if|else:|select|update"
    r"|delete)\b(?! \w+ \w+ \w+ \w+ \w+)"
    r"|[\w.\-\[\]\"']+\s*(?:=|:=|\+=)\s*\S+(?: \S+){0,4}\s*(?:#.*|//.*|   .*)?$|[{}\[\]()]+[,;]?\s*$|</?\w+[^<>]*>"
    r"|\[[\w.\- ]+\]\s*$|[\w\-\"']+:(?:\s+[^\s.]+)?\s*$|//|/\*|E \(\d+\))"
    r"|.*(?:[;{}\\]|->.*|\w\(.*\))\s*$",
    re.IGNORECASE,
)
#: What begins so is a command, however much the rest looks like prose.
_SURE = re.compile(
    r"\s*(?:[$#] |>>> |(?:sudo|curl|wget|pip3?|apt-get|git|docker|systemctl|journalctl|ssh|scp|mosquitto_\w+|npm"
    r"|esptool\S*) )"
)
#: A program of any name with a `--flag`.
_FLAGGED = re.compile(r"\s*[a-z][\w./-]*(?: \S+){0,8}? --?[a-z][\w-]*(?:[ =]\S+){0,4}")
_WITHOUT_SYMBOLS = str.maketrans("", "", '(){}[]<>=;_|&$\\/*+#~^"')


@lru_cache(maxsize=1_024)
def pieces(text: str) -> tuple[Piece, ...]:
    """The pieces in order; nothing overlaps, only white space is left out. Several stages ask for the same post's."""
    found: list[Piece] = []
    introduced = False
    for start, end in _paragraphs(text):
        lines = _lines(text, start, end)
        block, introduced = _is_block(text, lines, introduced), text[start:end].endswith(":")
        if block:
            found.append(Piece(Kind.CODE, text[start:end], start, end))
            continue
        for left, right in lines:
            if (bullet := _BULLET.match(text, left, right)) and bullet.end() < right:
                kind = Kind.STEP if bullet.group().strip()[0].isdigit() else Kind.ITEM
                item = text[bullet.end() : right].rstrip()
                found.append(Piece(kind, item, bullet.end(), bullet.end() + len(item)))
                continue
            at = left
            for sentence in sentences(text[left:right]):
                begin = text.index(sentence, at)
                at = begin + len(sentence)
                found.append(Piece(Kind.SENTENCE, sentence, begin, at))
    return tuple(found)


def _paragraphs(text: str) -> list[tuple[int, int]]:
    """Spans between blank lines; a code block that has blank lines of its own comes in parts."""
    spans: list[tuple[int, int]] = []
    at = 0
    for gap in [*re.finditer(r"\n\s*\n", text), None]:
        end = gap.start() if gap else len(text)
        if text[at:end].strip():
            lead = len(text[at:end]) - len(text[at:end].lstrip("\n"))
            spans.append((at + lead, at + len(text[at:end].rstrip())))
        at = gap.end() - _indent(text, gap.end()) if gap else end
    return spans


def _indent(text: str, at: int) -> int:
    """Spaces before `at` on its line: an indented first line of code keeps its indent."""
    return at - (text.rfind("\n", 0, at) + 1)


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    spans = []
    at = start
    for line in text[start:end].split("\n"):
        if line.strip():
            spans.append((at, at + len(line)))
        at += len(line) + 1
    return spans


def _is_block(text: str, lines: list[tuple[int, int]], introduced: bool) -> bool:
    """Code or a table: most lines look like it, or half of them where a colon leads up to them."""
    if any(_ITEM.match(text[left:right]) for left, right in lines[:1]) and len(lines) > 1:
        return False
    said = [text[left:right] for left, right in lines]
    if len(said) > 1 and all(" | " in line for line in said):
        return True
    alike = sum(_is_code(line) for line in said)
    return alike > len(said) / 2 or (introduced and alike > 0 and alike == len(said) / 2)


def _is_code(line: str) -> bool:
    if _ITEM.match(line) and line[:1] in "-*•0123456789":
        return False
    symbols = len(line) - len(line.translate(_WITHOUT_SYMBOLS))
    if symbols > 0.15 * len(line) or (line[:2] == "  " and not _ITEM.match(line)):
        return True
    if (_SURE.match(line) or _FLAGGED.fullmatch(line)) and line[-1] not in ".?!:,;":
        return True
    prose = re.search(r"[a-zà-ÿ]{2,}[,.]? [a-zà-ÿ]{2,} [a-zà-ÿ]{2,} [a-zà-ÿ]{2,}", line)
    return bool(_COMMAND.match(line)) and not prose
