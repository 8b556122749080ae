"""The named queries of one file of sql/queries, each run as one short statement on a connection of the pool."""

from __future__ import annotations

from typing import Any

from psycopg.rows import dict_row

from clients.postgres.pool import Database
from clients.postgres.queries import queries
from forum.types import Thread


class Statements:
    """Raises DatabaseUnavailable, and KeyError for a name that the file lacks."""

    def __init__(self, database: Database, file: str) -> None:
        self._database, self._sql = database, queries(file)

    def all(self, name: str, thread: Thread | None = None, /, **values: Any) -> list[dict[str, Any]]:
        """All rows, read for the readers of `thread` (None: everyone)."""
        with self._database.reading(thread) as connection:
            return connection.cursor(row_factory=dict_row).execute(self._sql[name], values).fetchall()

    def run(self, name: str, /, **values: Any) -> None:
        with self._database.connection() as connection:
            connection.execute(self._sql[name], values)
