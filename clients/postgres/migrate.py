"""Brings a database to the newest schema: sql/migrations in order, then procrastinate's own."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import psycopg
import yoyo
from procrastinate import App, SyncPsycopgConnector
from psycopg.conninfo import conninfo_to_dict

from clients.postgres.place import place
from clients.postgres.pool import Connection
from clients.postgres.queries import SQL
from forum.errors import DatabaseUnavailable

MIGRATIONS = SQL / "migrations"


def migrate(url: str, *, folder: Path = MIGRATIONS) -> list[str]:
    """Apply what is missing, one process at a time, and return the names of what was applied.

    Raises DatabaseUnavailable when the server cannot be reached, lacks pgvector, or is migrated for over 60 s.
    """
    try:
        with psycopg.connect(url, connect_timeout=5, autocommit=True) as connection:
            connection.execute("SET lock_timeout = '60s'")
            # The server lets go of this lock when its holder dies; yoyo's own, a row, would stay for ever.
            connection.execute("SELECT pg_advisory_lock(hashtext('threadcite migrations'))")
            missing = _missing(connection, folder)
            if missing:
                _apply(url, folder)
            if connection.execute("SELECT to_regclass('procrastinate_jobs')").fetchone() == (None,):
                _apply_queue_schema(url)
            return missing
    except psycopg.errors.LockNotAvailable as error:
        raise DatabaseUnavailable(
            "Another process has been migrating this database for over 60 s: wait for it, or stop it."
        ) from error
    except (psycopg.errors.UndefinedFile, psycopg.errors.FeatureNotSupported) as error:
        raise DatabaseUnavailable(
            "This Postgres has no pgvector: install the `vector` extension (0.7 or newer) on the server."
        ) from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise DatabaseUnavailable(
            f"The database user may not migrate ({error.diag.message_primary}): "
            "run `CREATE EXTENSION vector` as a superuser and give our user CREATE on the schema."
        ) from error
    except (psycopg.OperationalError, psycopg.ProgrammingError) as error:
        raise DatabaseUnavailable(
            f"Cannot use the database at {place(url)}: {_reason(error)} Check THREADCITE_DATABASE_URL and that Postgres"
            " runs there."
        ) from error


def _reason(error: psycopg.Error) -> str:
    """Of what may be several lines, one for each address that was tried, the first without the address."""
    first = str(error).strip().partition("\n")[0]
    return first.rpartition(" failed: ")[2].removeprefix("FATAL:").strip().rstrip(".") + "."


def _missing(connection: Connection, folder: Path) -> list[str]:
    """Names of the migrations that this database has not had, read from yoyo's table."""
    names = sorted(path.stem for path in folder.glob("*.sql"))
    if connection.execute("SELECT to_regclass('_yoyo_migration')").fetchone() == (None,):
        return names
    done = {name for (name,) in connection.execute("SELECT migration_id FROM _yoyo_migration")}
    return [name for name in names if name not in done]


def _apply(url: str, folder: Path) -> None:
    backend = yoyo.get_backend("postgresql+psycopg:///?" + urlencode(conninfo_to_dict(url)))
    with closing(backend.connection):
        backend.apply_migrations(backend.to_apply(yoyo.read_migrations(str(folder))))


def _apply_queue_schema(url: str) -> None:
    with App(connector=SyncPsycopgConnector(conninfo=url)).open() as app:
        app.schema_manager.apply_schema()
