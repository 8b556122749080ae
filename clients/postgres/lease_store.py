"""Shares the texts that wait for a vector among any number of workers, on any number of machines."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from clients.postgres.pool import Database
from clients.postgres.queries import queries

#: A worker that has not come back after this long is taken for dead, and its texts go to the others.
LEASE_S = 120.0


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerState:
    """A living worker: texts it has embedded, and texts a second of its last batch."""

    name: str
    done: int
    rate: float


class LeaseStore:
    """The leases of one worker; its name tells the machine and the process. Methods raise DatabaseUnavailable."""

    def __init__(self, database: Database, *, worker: str | None = None, lease_s: float = LEASE_S) -> None:
        self._database = database
        self._lease_s = lease_s
        self.worker = worker or f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:6]}"
        self._sql = queries("store")

    def claim(self, model_id: int, *, before: int, limit: int) -> list[int]:
        """Posts below the id `before` that are ours to embed now, newest first."""
        arguments = {
            "model": model_id,
            "before": before,
            "limit": limit,
            "worker": self.worker,
            "lease_s": self._lease_s,
        }
        with self._database.transaction() as connection:
            rows = connection.execute(self._sql["claim"], arguments).fetchall()
        return sorted((row[0] for row in rows), reverse=True)

    def done(self, model_id: int, ids: Sequence[int], *, embedded: int, seconds: float) -> None:
        """Give the posts back and tell how fast it went."""
        with self._database.transaction() as connection:
            connection.execute(self._sql["release"], {"model": model_id, "ids": list(ids), "worker": self.worker})
            connection.execute(
                self._sql["report_worker"],
                {
                    "model": model_id,
                    "worker": self.worker,
                    "done": embedded,
                    "rate": len(ids) / max(seconds, 0.001),
                },
            )

    def held_by_others(self, model_id: int) -> int:
        """How many texts living workers hold."""
        with self._database.connection() as connection:
            row = connection.execute(self._sql["held_by_others"], {"model": model_id, "worker": self.worker}).fetchone()
        return int(row[0]) if row else 0

    def waiting(self, model_id: int) -> int:
        """Texts that have no vector of this model, those that somebody holds among them."""
        with self._database.connection() as connection:
            row = connection.execute(self._sql["waiting"], {"model": model_id}).fetchone()
        return int(row[0]) if row else 0

    def workers(self) -> list[WorkerState]:
        """The workers that were heard of within a minute."""
        with self._database.connection() as connection:
            rows = connection.execute(self._sql["workers"]).fetchall()
        return [WorkerState(name=row[0], done=row[1], rate=row[2]) for row in rows]
