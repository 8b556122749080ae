"""PDF files as blocks, a page at a time, so that a file of five hundred pages costs the memory of a few."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forum.errors import SourceError
from forum.sections import Block
from forum.unicode_safety import one_line, safe

#: pypdf keeps every object that it has read: it starts afresh after so many pages.
_PAGES_A_READER = 100
_HYPHEN = re.compile(r"(?<=\w)[-\u00ad]\n(?=[a-zà-ÿ])")
_LINE = re.compile(r"(?<!\n)\n(?!\n)")
#: What a page may say; more is no page of text.
_LONGEST_PAGE = 100_000

logging.getLogger("pypdf").setLevel(logging.CRITICAL)


def pdf_title(path: Path) -> str:
    """The title in the file's own description, or "". Raises SourceError as `pdf_blocks` does."""
    return one_line(safe(str(getattr(_reader(path).metadata, "title", "") or "")))


def pdf_blocks(path: Path) -> Iterator[Block]:
    """The pages in order, each under the bookmark that it belongs to.

    Raises SourceError with one line: encrypted, broken, or without text (scanned).
    """
    reader = _reader(path)
    count, marks = _guarded(path, lambda: (len(reader.pages), _bookmarks(reader)))
    said = False
    for at in range(count):
        if at and at % _PAGES_A_READER == 0:
            reader.stream.close()
            reader = _reader(path)
        text = _guarded(path, lambda reader=reader, at=at: reader.pages[at].extract_text())[:_LONGEST_PAGE]
        if at in marks:
            yield Block(text=marks[at], level=1, anchor=f"page={at + 1}", page=at + 1)
        text = _LINE.sub(" ", _HYPHEN.sub("", safe(text))).strip()
        if text:
            said = True
            yield Block(text=text, anchor=f"page={at + 1}", page=at + 1)
    reader.stream.close()
    if not said:
        raise SourceError(f"{path.name}: has no text in its {count} pages (scanned?); run it through OCR first.")


def _reader(path: Path) -> Any:
    try:
        from pypdf import PdfReader
    except ModuleNotFoundError as error:
        raise SourceError(
            f"{path.name}: PDF files need the `documents` extra: pip install threadcite[documents]."
        ) from error
    # Read from the file as needed, not whole.
    reader = _guarded(path, lambda: PdfReader(path.open("rb")))
    if reader.is_encrypted and not _guarded(path, lambda: reader.decrypt("")):
        raise SourceError(f"{path.name}: is encrypted; save a copy without a password.")
    return reader


def _guarded(path: Path, work: Any) -> Any:
    """A broken file fails in many ways: each is one line."""
    try:
        return work()
    except MemoryError:
        raise
    except Exception as error:
        raise SourceError(f"{path.name}: cannot be read as a PDF ({type(error).__name__}).") from error


def _bookmarks(reader: Any) -> dict[int, str]:
    """The first bookmark of each page, by the page's place from 0; outlines are often broken, then there are none."""
    found: dict[int, str] = {}

    def walk(entries: Any, depth: int) -> None:
        for entry in entries:
            if isinstance(entry, list):
                if depth < 3:
                    walk(entry, depth + 1)
                continue
            place = reader.get_destination_page_number(entry)
            title = one_line(safe(str(entry.title)))
            if place is not None and place >= 0 and title:
                found.setdefault(place, title)

    try:
        walk(reader.outline, 0)
    except Exception:
        return {}
    return found
