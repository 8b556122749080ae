"""A scratch index of one source: a database of its own on the embedded Postgres, built once and used again."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

import psycopg
import yaml
from psycopg import sql
from psycopg.conninfo import make_conninfo

from clients.composition import build_embedder, data_folder, database_url, open_database
from clients.console import tell
from clients.postgres.migrate import migrate
from clients.postgres.pool import Database
from forum.config import Config
from forum.errors import ThreadciteError, UsageError
from forum.terms import TERM_RULES_VERSION
from forum.text import TEXT_RULES_VERSION

_CHUNK = 1 << 20


def open_index(posts: str | None, *, until: datetime | None, config: Config) -> tuple[Database, str]:
    """The database to evaluate on and the name of its content: the running index, or a scratch one of `posts`.

    A scratch index is keyed by the source's bytes, `until`, the embedder and the text rules; it is built by the
    indexer's own command and reused while the key stands. Raises UsageError, DatabaseUnavailable.
    """
    if posts is None:
        return open_database(), "the running index"
    kind, _, path = posts.partition(":")
    if kind != "archive" or not Path(path).exists():
        raise UsageError(f"--posts {posts!r:.80}: give archive:PATH of a file or folder that exists.")
    digest = _digest(Path(path))
    key = _key(digest, until, build_embedder(config.embedder).model.name)
    server = database_url(data_folder())
    url = make_conninfo(server, dbname=f"scratch_{key}")
    if not _is_built(server, url, f"scratch_{key}"):
        _build(server, url, f"scratch_{key}", posts, until, config)
    return open_database(url), digest


def _digest(path: Path) -> str:
    total = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file()):
        total.update(file.name.encode())
        with file.open("rb") as content:
            while chunk := content.read(_CHUNK):
                total.update(chunk)
    return total.hexdigest()


def _key(digest: str, until: datetime | None, model: str) -> str:
    parts = (digest, until.isoformat() if until else "", model, str(TEXT_RULES_VERSION), str(TERM_RULES_VERSION))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _is_built(server: str, url: str, name: str) -> bool:
    with psycopg.connect(server, autocommit=True, connect_timeout=5) as connection:
        if not connection.execute("SELECT FROM pg_database WHERE datname = %s", (name,)).rowcount:
            return False
    with psycopg.connect(url, autocommit=True, connect_timeout=5) as connection:
        if connection.execute("SELECT to_regclass('backfill')").fetchone() == (None,):
            return False
        return connection.execute("SELECT FROM backfill WHERE state = 'done'").rowcount > 0


def _build(server: str, url: str, name: str, posts: str, until: datetime | None, config: Config) -> None:
    with psycopg.connect(server, autocommit=True, connect_timeout=5) as connection:
        if not connection.execute("SELECT FROM pg_database WHERE datname = %s", (name,)).rowcount:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    migrate(url)
    with tempfile.TemporaryDirectory(prefix="threadcite-eval-") as folder:
        written = Path(folder) / "config.yml"
        written.write_text(yaml.safe_dump(config.model_dump(mode="json")), encoding="utf-8")
        command = [sys.executable, "-m", "indexer", "backfill", posts]
        if until is not None:
            command += ["--until", until.date().isoformat()]
        tell(f"building the scratch index {name} of {posts} (once)")
        done = subprocess.run(
            command,
            env={**os.environ, "THREADCITE_DATABASE_URL": url, "THREADCITE_CONFIG": str(written)},
            stdout=subprocess.DEVNULL,
            check=False,
        )
    if not _is_built(server, url, name):
        raise ThreadciteError(f"The scratch index of {posts} was not finished: indexer exit code {done.returncode}.")
    with psycopg.connect(url, autocommit=True, connect_timeout=5) as connection:
        # So that the signals of topics are read from their index alone.
        connection.execute("VACUUM ANALYZE")
