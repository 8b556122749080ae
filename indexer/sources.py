"""Reads the SOURCE argument: `archive:PATH`, `discourse`, `database` or `database:URL`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from clients.archive_source import ArchiveSource
from forum.config import Config
from forum.errors import UsageError
from forum.ports import PostSource


def open_source(argument: str, config: Config, *, on_problem: Callable[[str], None]) -> PostSource:
    """The source that the argument names. Raises UsageError for an unknown kind or an unreadable archive."""
    kind, colon, rest = argument.partition(":")
    if kind == "archive":
        if not rest:
            raise UsageError("SOURCE archive: needs a path, for example archive:posts.jsonl.gz")
        return ArchiveSource(Path(rest).expanduser(), on_problem=on_problem)
    near = f" Did you mean archive:{argument}?" if not colon and Path(argument).exists() else ""
    raise UsageError(f"SOURCE {argument!r:.80} is none of archive:PATH, discourse, database:URL.{near}")


def forum_host(source: PostSource, config: Config) -> str:
    """The host whose topic links count: the configured forum's, or the one that an archive's own links name most."""
    configured = config.forum.base_url.partition("://")[2].split("/")[0]
    if isinstance(source, ArchiveSource):
        return source.guess_host() or configured
    return configured
