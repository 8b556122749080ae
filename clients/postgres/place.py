"""Where a database is, for a message: host, port and name of its address, never its user or password."""

from __future__ import annotations

import psycopg
from psycopg.conninfo import conninfo_to_dict

from forum.errors import DatabaseUnavailable


def place(url: str) -> str:
    """`HOST:PORT/NAME`. Raises DatabaseUnavailable for what is no address; the line holds nothing of it."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        raise DatabaseUnavailable(
            "THREADCITE_DATABASE_URL is no address of a Postgres: write postgresql://USER:PASSWORD@HOST:PORT/NAME."
        ) from None
    host = parts.get("host") or parts.get("hostaddr") or "local"
    return f"{host}:{parts.get('port') or 5432}/{parts.get('dbname') or ''}"
