"""Finds the files of a collection and reads each as blocks; what cannot be read is one clear line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clients.html_document import (
    html_blocks,
    html_title,
    markdown_blocks,
    markdown_title,
    text_blocks,
    title_of_path,
)
from clients.pdf_document import pdf_blocks, pdf_title
from forum.errors import SourceError, UsageError
from forum.sections import Block

#: Larger text is a dump; a PDF is read a page at a time.
_LARGEST_TEXT, _LARGEST_PDF = 20_000_000, 500_000_000
_MARKDOWN, _HTML, _TEXT, _PDF = (".md", ".markdown"), (".html", ".htm"), (".txt", ".text"), (".pdf",)
KINDS = (*_MARKDOWN, *_HTML, *_TEXT, *_PDF)


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentFile:
    """A file with the path that it has in its collection."""

    file: Path
    #: Relative, with slashes.
    path: str

    def digest(self) -> bytes:
        """SHA-256 of the content. Raises SourceError."""
        total = hashlib.sha256()
        try:
            with self.file.open("rb") as content:
                while chunk := content.read(1 << 20):
                    total.update(chunk)
        except OSError as error:
            raise SourceError(f"{self.path}: {error.strerror}.") from error
        return total.digest()

    def read(self) -> tuple[str, Iterator[Block]]:
        """Title and blocks. Raises SourceError, also while the blocks are read."""
        kind = self.file.suffix.lower()
        if kind not in KINDS:
            raise SourceError(f"{self.path}: is no kind of file that is read ({', '.join(KINDS)}).")
        size = self.file.stat().st_size
        if size == 0:
            raise SourceError(f"{self.path}: is empty.")
        if size > (_LARGEST_PDF if kind in _PDF else _LARGEST_TEXT):
            raise SourceError(f"{self.path}: is too large ({size} bytes).")
        name = title_of_path(self.path)
        if kind in _PDF:
            return pdf_title(self.file) or name, pdf_blocks(self.file)
        text = self._text()
        if kind in _MARKDOWN:
            return markdown_title(text) or name, markdown_blocks(text)
        if kind in _HTML:
            return html_title(text) or name, html_blocks(text)
        return name, text_blocks(text)

    def _text(self) -> str:
        content = self.file.read_bytes()
        if b"\0" in content[:4096]:
            raise SourceError(f"{self.path}: is no text, whatever its name says.")
        return content.decode("utf-8-sig", "replace")


def document_files(path: Path) -> list[DocumentFile]:
    """The file, or every file below the folder that is not hidden, in the order of their paths.

    A link out of the folder is not followed. Raises UsageError for a path that is not there.
    """
    if path.is_file():
        return [DocumentFile(file=path, path=path.name)]
    if not path.is_dir():
        raise UsageError(f"PATH: there is no {path}.")
    root = path.resolve()
    found = []
    for file in sorted(path.rglob("*")):
        place = file.relative_to(path)
        inside = file.is_file() and file.resolve().is_relative_to(root)
        if inside and not any(part.startswith(".") for part in place.parts):
            found.append(DocumentFile(file=file, path=place.as_posix()))
    return found
