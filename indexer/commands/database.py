"""`indexer migrate` and `indexer stop`: bring the schema up to date; end the embedded Postgres."""

from __future__ import annotations

from clients.composition import data_folder, database_url
from clients.embedded_postgres import is_running, stop
from clients.postgres.migrate import migrate
from clients.secrets import read_secret
from forum.errors import UsageError


def migrate_command() -> None:
    """Bring the database's schema up to date, under a lock; every other command does this too."""
    applied = migrate(database_url())
    print(f"Applied: {', '.join(applied)}." if applied else "The schema is up to date.")


def stop_command() -> None:
    """End the embedded Postgres of this data folder; the next command starts it again."""
    if read_secret("DATABASE_URL"):
        raise UsageError("THREADCITE_DATABASE_URL is set: that server is yours to stop.")
    folder = data_folder() / "postgres"
    if not is_running(folder):
        print(f"No Postgres runs on {folder}.")
        return
    stop(folder)
    print(f"Stopped the Postgres on {folder}.")
