"""Texts first, vectors by any number of workers; a killed one costs a batch, a pause holds all."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from clients.discourse_json import read_source_post
from clients.postgres.backfill_store import BackfillStore
from clients.postgres.ingest import Ingest
from clients.postgres.lease_store import LeaseStore
from clients.postgres.pausing import Pausing
from clients.postgres.pool import Database
from forum.config import Config
from forum.ports import Vectors
from forum.types import Category
from indexer.backfill import backfill
from indexer.sources import open_source
from indexer.status import status
from indexer.verify import verify

from .conftest import Letters, lines, record
from .test_command_line import environment

Stored = Callable[[], dict[int, str]]


def texts_only(database: Database, folder: Path, count: int) -> Ingest:
    (folder / "posts.jsonl").write_bytes(lines([record(n, f"rain number{n}") for n in range(1, count + 1)]))
    ingest = Ingest(database, Letters(), Config())
    source = open_source(f"archive:{folder}", Config(), on_problem=lambda line: None)
    backfill(source, ingest, BackfillStore(database), batch_posts=1000, vectors=False)
    return ingest


def vectors(database: Database) -> int:
    with database.connection() as connection:
        row = connection.execute("SELECT count(*) FROM embedding").fetchone()
    return int(row[0]) if row else 0


def test_texts_without_vectors_are_found_by_keyword_and_told_by_status(
    tmp_path: Path, database: Database, stored: Stored
) -> None:
    texts_only(database, tmp_path, 30)
    assert (len(stored()), vectors(database)) == (30, 0)
    told = status(database)
    assert (told["waiting_for_vector"], told["state"]) == (30, "embedding")


def test_four_workers_share_the_texts_and_none_is_embedded_twice(tmp_path: Path, database: Database) -> None:
    texts_only(database, tmp_path, 400)
    embedders = [Letters() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda one: Ingest(database, one, Config()).fill(largest=32), embedders))
    assert sum(done) == vectors(database) == 400
    assert sum(len(call) for one in embedders for call in one.calls) == 400
    with database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM embedding_lease").fetchone() == (0,)
    assert verify(database, Ingest(database, Letters(), Config()).model.id, opened=[])["ok"]


def test_the_newest_posts_get_their_vectors_first(tmp_path: Path, database: Database) -> None:
    texts_only(database, tmp_path, 100)
    letters = Letters()
    Ingest(database, letters, Config()).fill(largest=32)
    assert {text.rpartition("number")[2] for text in letters.calls[0]} <= {str(n) for n in range(69, 101)}


def test_the_texts_of_a_dead_worker_go_to_the_others(tmp_path: Path, database: Database) -> None:
    ingest = texts_only(database, tmp_path, 50)
    dead = LeaseStore(database, worker="dead", lease_s=1.0)
    assert len(dead.claim(ingest.model.id, before=2**62, limit=20)) == 20
    assert ingest.fill(wait_for_others=True) == 50


def test_a_failing_embedder_stops_its_worker_and_another_one_finishes(tmp_path: Path, database: Database) -> None:
    from forum.errors import RemoteUnavailable

    class Down(Letters):
        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            raise RemoteUnavailable("down")

    texts_only(database, tmp_path, 50)
    with pytest.raises(RemoteUnavailable):
        Ingest(database, Down(), Config()).fill()
    with database.connection() as connection:
        connection.execute("UPDATE embedding_lease SET until = now() - interval '1 second'")
    assert Ingest(database, Letters(), Config()).fill() == 50


def test_a_pause_holds_a_worker_between_batches_and_resume_lets_it_go_on(tmp_path: Path, database: Database) -> None:
    ingest = texts_only(database, tmp_path, 20)
    pausing = Pausing(database)
    pausing.pause()
    assert status(database)["state"] == "paused"
    worker = threading.Thread(target=ingest.fill)
    worker.start()
    time.sleep(0.5)
    assert vectors(database) == 0
    pausing.resume()
    worker.join(20)
    assert vectors(database) == 20


def test_a_renamed_category_is_composed_anew(database: Database, ingest: Ingest) -> None:
    ingest.put_categories([Category(id=3, name="Rain", read_restricted=False)], at=datetime(2025, 1, 1, tzinfo=UTC))
    ingest.ingest([read_source_post(record(1, category_id=3))])
    ingest.put_categories([Category(id=3, name="Hailstorm", read_restricted=False)], at=datetime.now(UTC))
    with database.connection() as connection:
        found = connection.execute("SELECT id FROM public_post WHERE terms @@ 'hailstorm'::tsquery").fetchall()
    assert found == [(1,)]
    assert verify(database, ingest.model.id, opened=[])["ok"]


def test_workers_killed_in_the_middle_leave_nothing_undone(
    tmp_path: Path, database: Database, database_url: str
) -> None:
    pytest.importorskip("wordllama", reason="needs the `embedded` extra")
    texts_only(database, tmp_path, 3000)
    with database.connection() as connection:
        connection.execute("DELETE FROM embedding_model")

    def start() -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-m", "indexer", "work"]
        return subprocess.Popen(argv, env=environment(database_url), cwd=tmp_path, stdout=subprocess.DEVNULL)

    workers = [start(), start()]
    while not vectors(database) and all(one.poll() is None for one in workers):
        time.sleep(0.02)
    for one in workers:
        one.kill()
        one.wait()
    assert vectors(database) < 3000
    with database.connection() as connection:
        connection.execute("UPDATE embedding_lease SET until = now()")
    assert start().wait(120) == 0
    assert vectors(database) == 3000
