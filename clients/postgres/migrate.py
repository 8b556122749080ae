"""Brings a database to the newest schema: sql/migrations in order, then procrastinate's own."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import psycopg
import yoyo
from procrastinate import App, SyncPsycopgConnector
from psycopg.conninfo import conninfo_to_dict
from yoyo.exceptions import LockTimeout

from clients.postgres.queries import SQL
from forum.errors import DatabaseUnavailable

MIGRATIONS = SQL / "migrations"


def migrate(url: str, *, folder: Path = MIGRATIONS) -> list[str]:
    """Apply what is missing, under a lock, and return the names of what was applied.

    Raises DatabaseUnavailable when the server cannot be reached or lacks pgvector.
    """
    try:
        backend = yoyo.get_backend(_yoyo_url(url))
        migrations = yoyo.read_migrations(str(folder))
        with backend.lock():
            missing = backend.to_apply(migrations)
            backend.apply_migrations(missing)
        _queue_schema(url)
        return [migration.id for migration in missing]
    except LockTimeout as error:
        raise DatabaseUnavailable("Another process has been migrating this database for over 10 s.") from error
    except psycopg.errors.UndefinedFile as error:
        raise DatabaseUnavailable(
            "This Postgres has no pgvector: install the `vector` extension (0.7 or newer) on the server."
        ) from error
    except psycopg.OperationalError as error:
        reason = str(error).strip().splitlines()[-1]
        raise DatabaseUnavailable(f"Cannot reach the database of THREADCITE_DATABASE_URL: {reason}") from error


def _queue_schema(url: str) -> None:
    app = App(connector=SyncPsycopgConnector(conninfo=url))
    with psycopg.connect(url, connect_timeout=5, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(hashtext('threadcite queue schema'))")
        if connection.execute("SELECT to_regclass('procrastinate_jobs')").fetchone() != (None,):
            return
        with app.open():
            app.schema_manager.apply_schema()


def _yoyo_url(url: str) -> str:
    parts = conninfo_to_dict(url)
    login = quote(str(parts.pop("user", "")), safe="")
    if password := parts.pop("password", None):
        login += ":" + quote(str(password), safe="")
    host, port = str(parts.pop("host", "")), str(parts.pop("port", ""))
    name = quote(str(parts.pop("dbname", "")), safe="")
    query = ""
    if host.startswith("/"):
        query, host = f"?unix_socket={quote(host, safe='')}", ""
    address = f"{host}:{port}" if port else host
    return f"postgresql+psycopg://{login}@{address}/{name}{query}"
