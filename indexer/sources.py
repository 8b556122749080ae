"""Reads the SOURCE argument: `archive:PATH`, `discourse`, `database` or `database:URL`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from clients.archive_source import ArchiveSource
from clients.database_source import DatabaseSource
from clients.discourse import DiscourseClient
from clients.discourse_source import DiscourseSource
from clients.secrets import read_secret
from forum.config import Config
from forum.errors import UsageError
from forum.ports import PostSource


def open_source(
    argument: str,
    config: Config,
    *,
    on_problem: Callable[[str], None],
    on_wait: Callable[[str], None] = lambda _: None,
) -> PostSource:
    """The source that the argument names; `on_wait` hears of pauses that a forum makes necessary.

    Raises UsageError for an unknown kind or an unreadable archive.
    """
    kind, colon, rest = argument.partition(":")
    if kind == "archive":
        if not rest:
            raise UsageError("SOURCE archive: needs a path, for example archive:posts.jsonl.gz")
        return ArchiveSource(Path(rest).expanduser(), on_problem=on_problem)
    if argument == "discourse":
        client = DiscourseClient(config.forum, key=read_secret("DISCOURSE_API_KEY"))
        return DiscourseSource(client, config, on_wait=on_wait)
    if kind == "database":
        url = rest or _secret_url()
        return DatabaseSource(url)
    near = f" Did you mean archive:{argument}?" if not colon and Path(argument).exists() else ""
    raise UsageError(f"SOURCE {argument!r:.80} is none of archive:PATH, discourse, database:URL.{near}")


def _secret_url() -> str:
    if found := read_secret("DISCOURSE_DATABASE_URL"):
        return found.reveal()
    raise UsageError("SOURCE database: give database:URL, or set THREADCITE_DISCOURSE_DATABASE_URL.")


def forum_host(source: PostSource, config: Config) -> str:
    """The host whose topic links count: the configured forum's, or the one that an archive's own links name most."""
    configured = config.forum.base_url.partition("://")[2].split("/")[0]
    if isinstance(source, ArchiveSource):
        return source.guess_host() or configured
    return configured
