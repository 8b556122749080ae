"""What the forum told, each piece of news once, and what of it the index has still to take in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from clients.postgres.pool import Connection, Database
from clients.postgres.queries import queries
from clients.postgres.statements import Statements


@dataclass(frozen=True, kw_only=True, slots=True)
class Undigested:
    """A delivery that the index has not taken in."""

    key: str
    record: dict[str, Any]
    received_at: datetime
    tries: int


class Receipts:
    """Raises DatabaseUnavailable."""

    def __init__(self, database: Database) -> None:
        self._sql = queries("receipts")
        statements = Statements(database, "receipts")
        self._all, self._run = statements.all, statements.run

    def receive(
        self,
        connection: Connection,
        *,
        key: str,
        event: str,
        event_id: str | None = None,
        record: dict[str, Any] | None = None,
    ) -> bool:
        """Remember a delivery, with what the index will need of it; False when it said nothing new."""
        values = {"key": key, "event": event, "event_id": event_id, "record": Jsonb(record) if record else None}
        return connection.execute(self._sql["receive"], values).fetchone() is not None

    def undigested(self, limit: int) -> list[Undigested]:
        """The oldest deliveries that wait for the index."""
        return [Undigested(**row) for row in self._all("undigested", limit=limit)]

    def digested(self, keys: Sequence[str], note: str = "") -> None:
        """The index has them, or never will (`note` says why): what they told is forgotten."""
        self._run("digested", keys=list(keys), note=note)

    def postpone(self, key: str, seconds: float, note: str) -> None:
        self._run("postpone", key=key, seconds=seconds, note=note[:500])

    def last_seen_post(self) -> int | None:
        """Up to which post id the catch-up has looked."""
        rows = self._all("last_seen_post")
        return int(rows[0]["detail"]) if rows else None
