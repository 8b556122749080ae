"""Workers and Postgres killed at random moments, live edits and deletions meanwhile: the index ends as the forum."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from clients.discourse_json import read_source_post
from clients.postgres.ingest import Ingest
from clients.postgres.migrate import migrate
from clients.postgres.pool import Database
from forum.config import Config
from forum.errors import DatabaseUnavailable
from indexer.verify import verify

from .conftest import check_statistics, lines, record
from .test_command_line import environment

pytest.importorskip("wordllama", reason="needs the `embedded` extra")

POSTS = 6_000
KILLS = int(os.environ.get("THREADCITE_TEST_KILLS", "6"))


@pytest.fixture
def server() -> Iterator[Callable[[], str]]:
    """Gives the URL of a server of this test's own, started again when it was killed."""
    from clients.embedded_postgres import ensure_running, stop

    folder = Path(tempfile.mkdtemp(prefix="threadcite-kill-"))
    folder.chmod(0o755)
    try:
        yield lambda: ensure_running(folder / "postgres")
    finally:
        stop(folder / "postgres", "immediate")
        shutil.rmtree(folder, ignore_errors=True)


def kill_postgres(url: str) -> None:
    place = psycopg.conninfo.conninfo_to_dict(url)["host"]
    os.kill(int(Path(str(place), "postmaster.pid").read_text().splitlines()[0]), signal.SIGKILL)


@pytest.mark.slow
def test_whatever_is_killed_the_index_ends_equal_to_the_forum(server: Callable[[], str], tmp_path: Path) -> None:
    chance = random.Random(3)
    url = server()
    migrate(url)
    words = {number: f"rain number{number} " * 30 for number in range(1, POSTS + 1)}
    (tmp_path / "posts.jsonl").write_bytes(lines([record(number, text) for number, text in words.items()]))
    argv = [sys.executable, "-m", "indexer", "backfill", "archive:posts.jsonl"]
    live = datetime(2026, 1, 1, tzinfo=UTC)

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(argv, env=environment(url), cwd=tmp_path, stdout=-3, stderr=-3)

    def happen(ingest: Ingest) -> None:
        """An edit and a deletion, told again until the index has taken them, as a queue does."""
        nonlocal live
        live += timedelta(minutes=1)
        edited, gone = chance.sample(sorted(words), 2)
        words[edited] = f"edited snow number{edited} at {live.minute}"
        del words[gone]
        post = read_source_post(record(edited, words[edited], version=9, updated_at=live.isoformat()))
        while True:
            try:
                ingest.ingest([post])
                ingest.destroy_posts([gone], at=live)
                return
            except (DatabaseUnavailable, psycopg.Error):
                time.sleep(0.2)
                server()

    from clients.wordllama_embedder import WordLlamaEmbedder

    with Database(url) as database:
        ingest = Ingest(database, WordLlamaEmbedder(), Config())
        happen(ingest)
        for kill in range(KILLS):
            worker = start()
            deadline = time.monotonic() + chance.uniform(1.0, 6.0)
            while time.monotonic() < deadline and worker.poll() is None:
                happen(ingest)
            if kill % 3 == 2:
                kill_postgres(url)
            worker.kill()
            worker.wait()
            assert server() == url
            happen(ingest)
        assert start().wait(240) == 0
        with database.connection() as connection:
            stored = dict(connection.execute("SELECT id, text FROM public_post").fetchall())
        assert stored == {number: " ".join(text.split()) for number, text in words.items()}
        assert verify(database, ingest.model.id, opened=[])["ok"]
        check_statistics(database)
