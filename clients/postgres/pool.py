"""The connection pool: opens late, survives a restart of the server, never freezes a plan."""

from __future__ import annotations

import select
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import psycopg
from pgvector.psycopg import register_vector
from psycopg_pool import ConnectionPool, PoolTimeout

from clients.postgres.place import place
from clients.postgres.queries import queries
from forum.errors import DatabaseUnavailable
from forum.types import Thread

Connection = psycopg.Connection[tuple[Any, ...]]


def _configure(connection: Connection) -> None:
    connection.autocommit = True
    # A prepared statement freezes a generic plan, which scans the vectors sequentially (measured: 280 ms for 3).
    connection.prepare_threshold = None
    if connection.execute("SELECT 1 FROM pg_type WHERE typname = 'halfvec'").fetchone():
        register_vector(connection)


def _check(connection: Connection) -> None:
    """Raises OperationalError for a connection that the server has ended; a round trip only where it said something.

    A question checks out twenty connections: asking the server each time took a tenth of it.
    """
    if select.select([connection.fileno()], [], [], 0)[0]:
        ConnectionPool.check_connection(connection)


class Database:
    """Connections to one Postgres, handed out for the length of a `with` block.

    Raises DatabaseUnavailable when no connection can be had within `timeout_s`.
    """

    def __init__(self, url: str, *, max_size: int = 8, timeout_s: float = 5.0) -> None:
        self.url = url
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            url,
            min_size=0,
            max_size=max_size,
            timeout=timeout_s,
            max_idle=60,
            reconnect_timeout=2.0,
            configure=_configure,
            check=_check,
            kwargs={"connect_timeout": 5, "options": "-c plan_cache_mode=force_custom_plan"},
            open=False,
        )

    def __enter__(self) -> Self:
        self._pool.open(wait=False)
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close(timeout=2)

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection in autocommit mode."""
        if self._pool.closed:
            self._pool.open(wait=False)
        try:
            with self._pool.connection() as connection:
                yield from _watched(connection)
        except PoolTimeout as error:
            raise DatabaseUnavailable(
                f"The database at {place(self.url)} does not answer. Check THREADCITE_DATABASE_URL and that Postgres"
                " runs."
            ) from error

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A connection inside a transaction that commits at the end of the block."""
        with self.connection() as connection, connection.transaction():
            yield connection

    @contextmanager
    def reading(self, thread: Thread | None) -> Iterator[Connection]:
        """A connection whose `public_post` is what every reader of the thread may read; None: what everyone may."""
        if thread is None:
            with self.connection() as connection:
                yield connection
        else:
            with self.transaction() as connection:
                read_for(connection, thread)
                yield connection

    def close(self) -> None:
        """Give the connections back; the object opens again when used."""
        self._pool.close(timeout=2)


def read_for(connection: Connection, thread: Thread | None) -> None:
    """Until this transaction ends, `public_post` is what every reader of the thread may read."""
    if thread is not None:
        connection.execute(
            queries("readers")["read_for"],
            {
                "topic": thread.topic_id,
                "category": thread.category_id,
                "opened": sorted(thread.opened_category_ids),
            },
        )


def _watched(connection: Connection) -> Iterator[Connection]:
    """Hands out the connection; its loss in use is an unreachable database like any other."""
    try:
        yield connection
    except psycopg.OperationalError as error:
        if connection.closed or connection.broken:
            raise DatabaseUnavailable("The connection to the database was lost in the middle of a query.") from error
        raise
