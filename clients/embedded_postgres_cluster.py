"""A new cluster on disk, and the configuration files that each start writes anew."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from clients.embedded_postgres_place import Account
from forum.errors import DatabaseUnavailable

#: Included last by postgresql.conf; what an operator sets with ALTER SYSTEM still wins.
SETTINGS_FILE = "threadcite.conf"
_INCLUDE = f"include '{SETTINGS_FILE}'"


def _shared_buffers() -> str:
    """An eighth of the memory, 128 MB to 1 GB: a vector index that does not fit is read page by page."""
    memory_mb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20 if hasattr(os, "sysconf") else 0
    return f"{min(max(memory_mb // 8, 128), 1024)}MB"


#: One box, one product. A recovery after a kill reads at most max_wal_size or so of log.
_DEFAULTS = {
    "cluster_name": "threadcite",
    "shared_buffers": _shared_buffers(),
    "maintenance_work_mem": "256MB",  # an HNSW build; autovacuum's three workers must not take as much each
    "autovacuum_work_mem": "64MB",
    "max_connections": "100",
    "max_wal_size": "1GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # the server's log must not hold members' posts: no failing statement, no row in a DETAIL line
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}

_OURS = frozenset({"listen_addresses", "port", "unix_socket_directories", "data_directory", "hba_file", "ident_file"})

#: Docker gives /dev/shm 64 MB, and a parallel HNSW build wants maintenance_work_mem there.
_ROOMY_SHM_BYTES = 1 << 30


def create_cluster(data_dir: Path, account: Account, install: Path) -> None:
    """initdb beside `data_dir` and move it there when it is whole: a kill half-way leaves no half cluster.

    Raises DatabaseUnavailable if the folder holds something else, or initdb fails.
    """
    if data_dir.exists() and any(data_dir.iterdir()):
        raise DatabaseUnavailable(
            f"embedded Postgres: {data_dir} is not empty and holds no Postgres data; name an empty folder"
        )
    prefix = f".{data_dir.name}.new-"
    for left in data_dir.parent.iterdir():
        if left.name.startswith(prefix):
            shutil.rmtree(left, ignore_errors=True)
    staging = Path(tempfile.mkdtemp(prefix=prefix, dir=data_dir.parent))
    try:
        os.chown(staging, account.uid, account.gid)
        _initdb(staging, account, install)
        conf = os.open(staging / "postgresql.conf", os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
        with os.fdopen(conf, "a", encoding="utf-8") as file:
            file.write(f"\n{_INCLUDE}\n")
        staging.replace(data_dir)
        _sync(data_dir.parent)
    except OSError as error:
        raise DatabaseUnavailable(
            f"embedded Postgres: cannot make {data_dir}: {error}; "
            "name a writable folder that is no mount point itself (one inside a mount will do)"
        ) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _sync(folder: Path) -> None:
    """Make the move last through a power cut: the next start would throw an unmoved cluster away."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _initdb(folder: Path, account: Account, install: Path) -> None:
    """Collation built in, so that the host cannot change it; character classes by the first UTF-8 locale it has.

    With LC_CTYPE C the text-search parser takes every non-ASCII sign for a letter, a typographic apostrophe too.
    """
    said = ""
    for ctype in ("C.UTF-8", "en_US.UTF-8", "C"):
        done = account.run(
            [
                str(install / "bin" / "initdb"),
                f"--pgdata={folder}",
                "--username=postgres",
                "--auth-local=peer",
                "--auth-host=reject",
                "--encoding=UTF8",
                "--locale=C",
                f"--lc-ctype={ctype}",
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
                "--no-instructions",
            ],
            timeout_s=300,
        )
        if done.returncode == 0:
            return
        said = " ".join((done.stderr or done.stdout).split())[-300:]
    raise DatabaseUnavailable(f"embedded Postgres: initdb failed for {folder}: {said}; is the disk full?")


def write_configuration(data_dir: Path, sockets: Path, account: Account, settings: Mapping[str, str]) -> None:
    """Write the settings and who may connect: over the socket, the server's user and root, by the kernel's word.

    Raises DatabaseUnavailable on a setting that the launcher owns or that is no setting's name.
    """
    if _INCLUDE not in (data_dir / "postgresql.conf").read_text("utf-8", "replace"):
        raise DatabaseUnavailable(
            f"embedded Postgres: {data_dir} holds a cluster that Threadcite did not make; name another folder"
        )
    chosen = _DEFAULTS | _shared_memory() | dict(settings)
    for key in settings:
        if key.lower() in _OURS or not re.fullmatch(r"[A-Za-z_]\w*(\.\w+)?", key, re.ASCII):
            raise DatabaseUnavailable(f"embedded Postgres: setting {key!r} cannot be given here; leave it out")
    chosen |= {"listen_addresses": "", "port": "5432", "unix_socket_permissions": "0700"}
    chosen["unix_socket_directories"] = f'"{sockets}"'
    lines = [f"{key} = {_quoted(value)}" for key, value in chosen.items()]
    names = sorted({account.name, "root"})
    maps = [f'threadcite "{name}" {role}' for name in names for role in ("threadcite", "postgres")]
    header = "# Written by Threadcite at each start of the server."
    _replace(data_dir / SETTINGS_FILE, [header, *lines], account)
    _replace(data_dir / "pg_ident.conf", [header, *maps], account)
    _replace(data_dir / "pg_hba.conf", [header, "local all threadcite,postgres peer map=threadcite"], account)


def _shared_memory() -> dict[str, str]:
    try:
        shm = os.statvfs("/dev/shm")  # noqa: S108 - its size only
    except OSError:
        return {}
    return {"dynamic_shared_memory_type": "mmap"} if shm.f_frsize * shm.f_blocks < _ROOMY_SHM_BYTES else {}


def _quoted(value: str) -> str:
    """A value as postgresql.conf wants it; control characters, a line break among them, become spaces."""
    plain = "".join(sign if sign.isprintable() else " " for sign in value)
    return "'" + plain.replace("\\", "\\\\").replace("'", "''") + "'"


def _replace(path: Path, lines: list[str], account: Account) -> None:
    """Whole or not at all, and never through a link that the server's user may have put there."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
        os.fchown(file.fileno(), account.uid, account.gid)
    Path(name).replace(path)
