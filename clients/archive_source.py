"""Posts from files: JSON or JSON Lines, plain or gzipped, in Discourse's API shape; broken lines are named."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from clients.discourse_json import read_source_post, read_topic
from forum.errors import UsageError
from forum.topic_links import hosts_of_topic_links
from forum.types import Category, SourcePost, Topic

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
#: A line longer than this is no post; it is named and passed over.
_LONGEST_LINE = 64 * 2**20
#: A whole-file JSON document (not one record a line) is read into memory, so it has a limit.
_LARGEST_DOCUMENT = 2**30
_HOST_LINES = 3_000
#: So many broken lines of a file are named, the rest is counted; a file that begins with so many is no archive.
_NAMED, _HOPELESS = 5, 20
_RECORD_LISTS = ("posts", "latest_posts", "private_posts")


class ArchiveSource:
    """The posts of a file or folder, file by file in the order of their names, line by line.

    What cannot be read is handed to `on_problem` as one line that names the file and the line or byte; empty and
    `null` lines are counted in `skipped`. A cursor is `FILE:LINE`. Raises UsageError for an archive without any
    file that can be opened, or of one file that holds no post.
    """

    #: Its categories are public by the operator's declaration, and nothing in it is newer than its own dates.
    declared_public = True
    complete_topics = False
    observes = False

    def __init__(self, path: Path, *, on_problem: Callable[[str], None] = lambda _: None) -> None:
        self.path = path
        self.skipped: Counter[str] = Counter()
        self._on_problem = on_problem
        self._files = _files(path)
        self._broken, self._any_good = 0, False
        self._untold: list[str] = []

    @property
    def name(self) -> str:
        return f"archive:{self.path.resolve()}"

    def categories(self) -> Sequence[Category]:
        return ()

    def topics(self) -> Sequence[Topic]:
        return ()

    def total(self) -> int | None:
        """How many lines there are, as an estimate of the posts."""
        count = 0
        for file in self._files:
            try:
                count += sum(1 for _ in _lines(file))
            except _Unreadable:
                continue
        return count

    def guess_host(self) -> str | None:
        """The forum's own host: the one that most topic links of the first few thousand lines name."""
        hosts: Counter[str] = Counter()
        for file in self._files:
            try:
                for _, line in islice(_lines(file), _HOST_LINES):
                    hosts.update(hosts_of_topic_links(line.decode("utf-8", "replace").replace("\\/", "/")))
            except _Unreadable:
                pass
            if hosts:
                break
        return hosts.most_common(1)[0][0] if hosts else None

    def posts(self, *, after: str | None = None) -> Iterator[tuple[SourcePost, str]]:
        """Posts with the cursor that resumes right after each; a cursor of another archive starts anew."""
        start_name, _, start_line = (after or "").rpartition(":")
        names = [self._name_of(file) for file in self._files]
        start = names.index(start_name) if start_name in names else 0
        for index, file in enumerate(self._files[start:], start):
            done = int(start_line) if index == start and start_name in names and start_line.isdigit() else 0
            yield from self._posts_of(file, done)

    def _posts_of(self, file: Path, done: int) -> Iterator[tuple[SourcePost, str]]:
        name = self._name_of(file)
        self._broken, self._any_good, self._untold = 0, done > 0, []
        try:
            if _is_document(file):
                for number, record in enumerate(_document(file), 1):
                    if number > done:
                        yield from self._records(record, f"{file}, record {number}", name, number)
                return
            for number, line in _lines(file):
                if number <= done:
                    continue
                if not line.strip() or line.strip() == b"null":
                    self.skipped["empty line"] += 1
                    continue
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError) as error:
                    self._broken_line(f"{file}, line {number}: broken JSON ({_reason(error)})")
                    continue
                yield from self._records(record, f"{file}, line {number}", name, number)
            if self._broken and not self._any_good:
                raise _Unreadable(self._hopeless("none of its lines is a post"))
        except _Unreadable as error:
            if file == self.path and not self._any_good and not isinstance(error, _PackedTwice):
                raise UsageError(f"archive:{file}{error}") from error
            self.skipped["broken file"] += 1
            self._on_problem(f"{file}{error}")
        finally:
            if self._any_good and self._broken > _NAMED:
                self._on_problem(f"{file}: {self._broken - _NAMED} more broken lines were passed over.")

    def _records(self, record: Any, place: str, name: str, number: int) -> Iterator[tuple[SourcePost, str]]:
        """One post, or the posts of a topic's or a list's page; only after the last of them is the line done."""
        try:
            posts = list(_source_posts(record))
        except (ValueError, TypeError, AttributeError) as error:
            self._broken_line(f"{place}: no post: {_reason(error)}")
            return
        if posts and not self._any_good:
            self._any_good = True
            for line in self._untold:
                self._on_problem(line)
        for at, post in enumerate(posts, 1):
            yield post, f"{name}:{number if at == len(posts) else number - 1}"

    def _name_of(self, file: Path) -> str:
        return file.name if file == self.path else file.relative_to(self.path).as_posix()

    def _broken_line(self, line: str) -> None:
        """Named, once the file has shown that it holds posts. Raises _Unreadable when it seems to hold none."""
        self.skipped["broken line"] += 1
        self._broken += 1
        if self._broken <= _NAMED:
            if self._any_good:
                self._on_problem(line)
            else:
                self._untold.append(line)
        if self._broken == _HOPELESS and not self._any_good:
            raise _Unreadable(self._hopeless(f"its first {_HOPELESS} lines are no posts"))

    def _hopeless(self, what: str) -> str:
        first = self._untold[0].partition(", ")[2] if self._untold else ""
        return f": {what} ({first}). Give it JSON Lines or JSON in the shape of Discourse's API, gzipped or not."


class _Unreadable(Exception):
    """A file that ends or breaks in the middle; the message goes on after the file's name."""


class _PackedTwice(_Unreadable):
    """Whole, and wrapped once too often."""


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise UsageError(f"archive:{path}: no such file or folder.")
    if path.is_file():
        files = [path]
    else:
        files = sorted(file for file in path.rglob("*") if file.is_file() and re.search(r"\.jsonl?(\.gz)?$", file.name))
    if not files:
        raise UsageError(f"archive:{path}: no *.json, *.jsonl or their .gz in this folder.")
    try:
        for file in files:
            with file.open("rb") as handle:
                handle.read(1)
    except OSError as error:
        raise UsageError(f"archive:{file}: cannot be read: {error.strerror}.") from error
    return files


def _open(file: Path) -> BinaryIO | gzip.GzipFile:
    """The file's text, by what it begins with and not by its name. Raises _Unreadable when it is gzipped twice."""
    with file.open("rb") as handle:
        packed = handle.read(2) == _GZIP
    if not packed:
        return file.open("rb")
    try:
        with gzip.open(file) as handle:
            if handle.read(2) == _GZIP:
                raise _PackedTwice(": gzipped twice, byte 0 of its content is gzip again: gunzip it once.")
    except (EOFError, OSError, zlib.error) as error:
        raise _Unreadable(f": broken gzip at byte 0 ({_reason(error)}).") from error
    return gzip.open(file)


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """Whole lines with their numbers from 1. Raises _Unreadable where the file breaks off."""
    number = 0
    line = b""
    with _open(file) as handle:
        try:
            while line := handle.readline(_LONGEST_LINE):
                number += 1
                if number == 1:
                    line = line.removeprefix(_BOM)
                yield number, line
        except (EOFError, OSError, zlib.error) as error:
            at = file.stat().st_size
            raise _Unreadable(
                f", after line {number}: broken off or damaged before byte {at} ({_reason(error)});"
                " the whole lines before it are kept."
            ) from error


def _is_document(file: Path) -> bool:
    """True when the file is one JSON document over several lines, or an array."""
    first = next((line.strip() for _, line in islice(_lines(file), 100) if line.strip()), b"")
    if first.startswith(b"["):
        return True
    if first != b"{" and not (first.startswith(b"{") and file.name.removesuffix(".gz").endswith(".json")):
        return False
    try:
        json.loads(first)
    except ValueError:
        return True
    return False


def _document(file: Path) -> Iterable[Any]:
    with _open(file) as handle:
        try:
            text = handle.read(_LARGEST_DOCUMENT + 1)
        except (EOFError, OSError, zlib.error) as error:
            raise _Unreadable(f": broken off or damaged ({_reason(error)}); a JSON document must be whole.") from error
    if len(text) > _LARGEST_DOCUMENT:
        raise _Unreadable(": a JSON document over 1 GB; write one post a line (JSON Lines) instead.")
    try:
        document = json.loads(text.removeprefix(_BOM))
    except (ValueError, RecursionError) as error:
        raise _Unreadable(f": broken JSON ({_reason(error)}).") from error
    return document if isinstance(document, list) else [document]


def _source_posts(record: Any) -> Iterator[SourcePost]:
    if not isinstance(record, dict):
        raise TypeError(f"a {type(record).__name__} where an object was expected")
    stream = record.get("post_stream")
    if isinstance(stream, dict) and isinstance(stream.get("posts"), list):
        topic = read_topic(record)
        for post in stream["posts"]:
            yield read_source_post(post, topic)
        return
    for key in _RECORD_LISTS:
        if isinstance(record.get(key), list) and "topic_id" not in record:
            for post in record[key]:
                yield read_source_post(post)
            return
    yield read_source_post(record)


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:160] or type(error).__name__
