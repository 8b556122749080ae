"""A reply without the sources that are gone: their markers, what rested on them alone, their list entries."""

from __future__ import annotations

import re
from collections.abc import Collection

#: A marker as our renderer writes it, or what is left of it where links were taken out: [[1]](url) or [1].
_MARKER = re.compile(r"\[\[(\d+)\]\]\([^\s()]+\)|(?<![\[\w])\[(\d+)\](?![(\[])")
_ENTRY = re.compile(r"^- (\d+): ")
_FENCE = re.compile(r"\s*(`{3,})")
_LIST_SIGN = re.compile(r"^\s*(?:[-*]|\d+\.|>)\s+")


def without_sources(raw: str, gone: Collection[int], *, note: str, nothing_left: str) -> str:
    """The reply without markers `gone`. A passage (the text up to its run of markers) goes when all its markers do,
    and with it the blocks of code right below.

    Other code keeps its text. When no marker is left, the whole reply is `nothing_left`.
    """
    kept: list[str] = []
    fence = ""
    in_gone_entry = below_gone = False
    for line in raw.split("\n"):
        if (mark := _FENCE.match(line)) and (not fence or mark.group(1).startswith(fence)):
            fence = "" if fence else mark.group(1)
            if not below_gone:
                kept.append(line)
            continue
        if fence:
            if not below_gone:
                kept.append(line)
            continue
        if entry := _ENTRY.match(line):
            in_gone_entry = int(entry.group(1)) in gone
        elif not line.startswith("  "):
            in_gone_entry = False
        if in_gone_entry:
            continue
        shorter = _line(line, gone)
        if line.strip():
            below_gone = shorter != line and _ends_in(line, gone)
        if shorter is not None:
            kept.append(shorter)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    if not _MARKER.search(text):
        return nothing_left
    return text if note in text else f"{text}\n\n{note}"


def _line(line: str, gone: Collection[int]) -> str | None:
    """None: nothing is left of the line."""
    found = list(_MARKER.finditer(line))
    if not any(_number(match) in gone for match in found):
        return line
    sign = match.group() if (match := _LIST_SIGN.match(line)) else ""
    parts: list[str] = []
    start = len(sign)
    at = 0
    while at < len(found):
        run = at
        while run + 1 < len(found) and not line[found[run].end() : found[run + 1].start()].strip():
            run += 1
        markers = [match for match in found[at : run + 1] if _number(match) not in gone]
        if markers:
            parts.append(line[start : found[at].start()] + " ".join(match.group() for match in markers))
        start = found[run].end()
        at = run + 1
    rest = line[start:]
    if parts or rest.strip(" .,;:!?"):
        parts.append(rest)
    text = re.sub(r"^[\s.,;:]+", "", "".join(parts))
    return sign + text if text.strip() else None


def _ends_in(line: str, gone: Collection[int]) -> bool:
    """Whether the last passage of the line goes."""
    found = list(_MARKER.finditer(line))
    if line[found[-1].end() :].strip(" .,;:!?"):
        return False
    at = len(found) - 1
    while at and not line[found[at - 1].end() : found[at].start()].strip():
        at -= 1
    return all(_number(match) in gone for match in found[at:])


def _number(match: re.Match[str]) -> int:
    return int(match.group(1) or match.group(2))
