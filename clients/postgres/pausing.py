"""One switch for all backfills and embedding workers: they wait between batches while it is set."""

from __future__ import annotations

import time
from collections.abc import Callable

from clients.postgres.pool import Database

_LOOK_S = 1.0


class Pausing:
    """Methods raise DatabaseUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def pause(self) -> None:
        with self._database.connection() as connection:
            connection.execute("INSERT INTO pause DEFAULT VALUES ON CONFLICT DO NOTHING")

    def resume(self) -> None:
        with self._database.connection() as connection:
            connection.execute("DELETE FROM pause")

    def paused(self) -> bool:
        with self._database.connection() as connection:
            return connection.execute("SELECT 1 FROM pause").fetchone() is not None

    def wait(self, sleep: Callable[[float], None] = time.sleep) -> None:
        """Come back when nothing is paused."""
        while self.paused():
            sleep(_LOOK_S)
