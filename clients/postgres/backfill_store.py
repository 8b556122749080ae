"""Where each source's backfill stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from clients.postgres.mark import Mark, advance
from clients.postgres.pool import Database
from clients.postgres.queries import queries
from forum.errors import UsageError


@dataclass(frozen=True, kw_only=True, slots=True)
class BackfillState:
    """A row of backfill."""

    source: str
    cursor: str | None
    total: int | None
    seen: int
    indexed: int
    unchanged: int
    set_aside: int
    skipped: Mapping[str, int]
    state: str
    started_at: datetime
    updated_at: datetime


class BackfillStore:
    """Begins, moves on and ends backfills. Methods raise DatabaseUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = queries("store")

    @contextmanager
    def alone(self, source: str) -> Iterator[None]:
        """Hold this source for the length of the block; the lock dies with its process. Raises UsageError."""
        with self._database.connection() as connection:
            lock = "hashtextextended(%s, 0)"
            got = connection.execute(f"SELECT pg_try_advisory_lock({lock})", (f"backfill {source}",)).fetchone()
            if got != (True,):
                raise UsageError(f"{source} is being backfilled by another process: wait for it, or stop it first.")
            try:
                yield
            finally:
                connection.execute(f"SELECT pg_advisory_unlock({lock})", (f"backfill {source}",))

    def begin(self, source: str, total: int | None) -> tuple[str | None, int]:
        """(cursor to go on from, posts seen before it): a run that was stopped goes on, one that ended starts anew."""
        with self._database.connection() as connection:
            row = connection.execute(self._sql["begin_backfill"], {"source": source, "total": total}).fetchone()
        return (row[0], row[1]) if row else (None, 0)

    def restart(self, source: str, total: int | None) -> None:
        """Begin anew, whatever an earlier run had done."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM backfill WHERE source = %s", (source,))
            connection.execute(self._sql["begin_backfill"], {"source": source, "total": total})

    def advance(self, mark: Mark) -> None:
        with self._database.transaction() as connection:
            advance(connection, mark)

    def end(self, source: str, state: Literal["done", "stopped", "failed", "paused"]) -> None:
        with self._database.connection() as connection:
            connection.execute(self._sql["end_backfill"], {"source": source, "state": state})

    def states(self) -> list[BackfillState]:
        """Every source that was ever backfilled, the latest first."""
        with self._database.connection() as connection:
            rows = connection.execute(
                "SELECT source, cursor, total, seen, indexed, unchanged, set_aside, skipped, state, started_at,"
                " updated_at FROM backfill ORDER BY updated_at DESC"
            ).fetchall()
        return [
            BackfillState(
                source=row[0],
                cursor=row[1],
                total=row[2],
                seen=row[3],
                indexed=row[4],
                unchanged=row[5],
                set_aside=row[6],
                skipped=row[7],
                state=row[8],
                started_at=row[9],
                updated_at=row[10],
            )
            for row in rows
        ]
