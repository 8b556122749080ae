"""A connection that the server has ended meanwhile is never handed out."""

from __future__ import annotations

from clients.postgres.pool import Database


def test_a_connection_that_was_ended_is_replaced(postgres_url: str) -> None:
    with Database(postgres_url) as ours, Database(postgres_url) as other:
        with ours.connection() as connection:
            first = connection.info.backend_pid
        with ours.connection() as connection:
            assert connection.info.backend_pid == first
        with other.connection() as connection:
            assert connection.execute("SELECT pg_terminate_backend(%s, 5000)", (first,)).fetchone() == (True,)
        with ours.connection() as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
            assert connection.info.backend_pid != first
