"""Remembers what stood in config.yml, when it changed, and what was refused."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb

from clients.config_watch import Reading
from clients.postgres.pool import Database
from clients.postgres.queries import queries
from clients.postgres.statements import Statements
from forum.config_keys import changes, flat


class ConfigHistory:
    """Written by every process that watches the file; the same news twice is one row. Raises DatabaseUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = queries("config")
        self._all = Statements(database, "config").all

    def note(self, reading: Reading) -> None:
        """Keep a reading that differs from the last one kept: other values, or a new reason for refusing the file."""
        settings = flat(reading.config)
        with self._database.transaction() as connection:
            connection.execute(self._sql["lock"])
            last = connection.execute(self._sql["last"]).fetchone()
            changed = changes(last[1], settings) if last else {}
            if last and not changed and last[2] == reading.refusal:
                return
            values = {
                "digest": reading.digest,
                "owner": reading.owner,
                "settings": Jsonb(settings),
                "changed": Jsonb({key: list(pair) for key, pair in changed.items()}),
                "refusal": reading.refusal,
            }
            connection.execute(self._sql["note"], values)
            state, detail = ("refused", reading.refusal) if reading.refusal else ("ok", "")
            connection.execute(queries("ledger")["set_health"], {"name": "config", "state": state, "detail": detail})

    def rows(self, limit: int = 50) -> list[dict[str, Any]]:
        """The newest changes and refusals: at, owner, changed {key: [before, after]}, refusal."""
        return self._all("history", limit=limit)

    def since(self) -> dict[str, dict[str, Any]]:
        """By key: at and owner of the change that gave it its value."""
        return {row["key"]: row for row in self._all("since")}
