"""Where a backfill stands after a batch: a value, and how it is written in the batch's own transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from clients.postgres.pool import Connection
from clients.postgres.queries import queries


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """Where a backfill stands after a batch: written in the batch's own transaction."""

    source: str
    cursor: str | None
    seen: int = 0
    indexed: int = 0
    unchanged: int = 0
    set_aside: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)


def advance(connection: Connection, mark: Mark) -> None:
    """Move a backfill's mark on, in the caller's transaction."""
    connection.execute(
        queries("store")["advance_backfill"],
        {
            "source": mark.source,
            "cursor": mark.cursor,
            "seen": mark.seen,
            "indexed": mark.indexed,
            "unchanged": mark.unchanged,
            "set_aside": mark.set_aside,
            "skipped": json.dumps(dict(mark.skipped)),
        },
    )
