"""A database of made-up posts for the benchmarks, on the embedded Postgres, made once for each size."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from clients.composition import data_folder, database_url, open_database
from clients.postgres.migrate import migrate
from clients.postgres.pool import Connection, Database

#: Categories and the share of the posts that each keeps.
SHARES = ((1, 0.69), (2, 0.21), (3, 0.08), (4, 0.02))


def bench_database(name: str, fill: Callable[[Connection], None]) -> Database:
    """The database `name`, filled by `fill` in one transaction when it is new or was not finished."""
    server = database_url(data_folder())
    url = make_conninfo(server, dbname=name)
    with psycopg.connect(server, autocommit=True, connect_timeout=5) as connection:
        if not connection.execute("SELECT FROM pg_database WHERE datname = %s", (name,)).rowcount:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    migrate(url)
    database = open_database(url)
    with database.connection() as connection:
        filled = connection.execute("SELECT FROM post LIMIT 1").rowcount
    if not filled:
        with database.transaction() as connection:
            fill(connection)
        with database.connection() as connection:
            connection.execute("VACUUM ANALYZE")
    return database


def make_posts(connection: Connection, rows: int) -> None:
    """Posts 1..rows, one topic each, in the categories of SHARES, without terms or vectors."""
    connection.execute(
        "INSERT INTO category (id, name, read_restricted)"
        " SELECT n, 'category ' || n, false FROM generate_series(1, 4) n"
    )
    borders = [sum(share for _, share in SHARES[: at + 1]) for at in range(len(SHARES))]
    connection.execute(
        "INSERT INTO topic (id, title, category_id, created_at) SELECT n, 'topic ' || n, CASE"
        " WHEN r < %(a)s THEN 1 WHEN r < %(b)s THEN 2 WHEN r < %(c)s THEN 3 ELSE 4 END, now()"
        " FROM (SELECT n, (hashint8(n) & 65535) / 65536.0 AS r FROM generate_series(1, %(rows)s) n) drawn",
        {"a": borders[0], "b": borders[1], "c": borders[2], "rows": rows},
    )
    connection.execute(
        "INSERT INTO post (id, topic_id, post_number, created_at, updated_at, text, doc_length)"
        " SELECT n, n, 1, now(), now(), 'text', 1 FROM generate_series(1, %s) n",
        (rows,),
    )
    connection.execute("UPDATE corpus SET documents = %s, total_length = %s", (rows, rows))


def sizes(database: Database, *tables: str) -> dict[str, int]:
    """Bytes of each table with its indexes."""
    with database.connection() as connection:
        rows = connection.execute(
            "SELECT t, pg_total_relation_size(t::regclass) FROM unnest(%s::text[]) t", (list(tables),)
        )
        return dict(rows.fetchall())
