"""Cuts a document into sections: at headings, else between paragraphs, none longer than is embedded well."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from forum.sentences import sentences
from forum.text import excerpt
from forum.unicode_safety import one_line

#: Raise it whenever the same file would be cut otherwise.
SECTION_RULES_VERSION = 1
#: What the LLM reads of one source (`evidence.source_characters`): a longer section would be cut there.
LONGEST_SECTION = 1500
_PARAGRAPH = re.compile(r"\n\s*\n")
_JOINT = " › "


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A piece of a document in reading order: a heading (level 1 to 6), or text (level 0) of any length."""

    text: str
    level: int = 0
    #: Where a link leads to in the document, without #; a heading's own holds until the next.
    anchor: str = ""
    page: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A piece that is embedded, found and cited for itself."""

    #: The headings above it, outermost first, joined by ›.
    heading: str
    anchor: str
    page: int | None
    text: str


def sections(blocks: Iterable[Block], *, longest: int = LONGEST_SECTION) -> Iterator[Section]:
    """Sections in order; a heading without text of its own gives none. Holds one section at a time."""
    headings: list[tuple[int, str]] = []
    anchor = ""
    page: int | None = None
    held: list[str] = []

    def section() -> Iterator[Section]:
        if held:
            yield Section(
                heading=_JOINT.join(text for _, text in headings), anchor=anchor, page=page, text="\n\n".join(held)
            )
            held.clear()

    for block in blocks:
        if block.level:
            yield from section()
            headings = [one for one in headings if one[0] < block.level] + [(block.level, one_line(block.text, 120))]
            anchor = block.anchor
            page = block.page
            continue
        if block.page != page:
            yield from section()
            page, anchor = block.page, block.anchor or anchor
        for paragraph in _paragraphs(block.text, longest):
            if held and sum(map(len, held)) + 2 * len(held) + len(paragraph) > longest:
                yield from section()
            held.append(paragraph)
    yield from section()


def slug(heading: str) -> str:
    """The anchor that most Markdown renderers give a heading: lower case, hyphens for spaces, no punctuation."""
    text = unicodedata.normalize("NFC", heading).strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text))


def _paragraphs(text: str, longest: int) -> Iterator[str]:
    for paragraph in _PARAGRAPH.split(text):
        whole = paragraph.strip()
        if len(whole) <= longest:
            if whole:
                yield whole
            continue
        part = ""
        for sentence in sentences(whole):
            for piece in _cut(sentence, longest):
                if part and len(part) + 1 + len(piece) > longest:
                    yield part
                    part = ""
                part = f"{part} {piece}" if part else piece
        if part:
            yield part


def _cut(sentence: str, longest: int) -> Iterator[str]:
    while len(sentence) > longest:
        piece = excerpt(sentence, longest) or sentence[:longest]
        yield piece
        sentence = sentence[sentence.find(piece) + len(piece) :].strip()
    if sentence:
        yield sentence
