"""How much memory a local Postgres takes while something runs, all its processes together."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from clients.embedded_postgres_processes import servers
from clients.postgres.pool import Database

_EVERY_S = 0.5


@dataclass(slots=True)
class Peak:
    """The most that was seen, in MiB; 0 for a server on another machine."""

    mib: float = 0.0


@contextmanager
def peak_memory(database: Database) -> Iterator[Peak]:
    """Looks every half second. What processes share is counted once (proportional set size)."""
    with database.connection() as connection:
        (folder,) = connection.execute("SELECT current_setting('data_directory')").fetchone() or ("",)
    peak, over = Peak(), threading.Event()

    def watch() -> None:
        while True:
            peak.mib = max(peak.mib, _taken(Path(folder)))
            if over.wait(_EVERY_S):
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        over.set()
        watcher.join()


def _taken(folder: Path) -> float:
    import psutil  # of the extra `embedded`; without it there is no server of ours

    taken = 0
    for pid in servers(folder):
        with suppress(psutil.Error):
            taken += psutil.Process(pid).memory_full_info().pss
    return taken / 2**20
