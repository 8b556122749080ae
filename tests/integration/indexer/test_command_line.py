"""The commands as an admin types them: exit codes, one-line errors, JSON, a kill in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from clients.postgres.pool import Database

from .conftest import check_statistics, lines, record

ROOT = Path(__file__).parents[3]
Indexer = Callable[..., subprocess.CompletedProcess[str]]

pytest.importorskip("wordllama", reason="needs the `embedded` extra")


def environment(url: str) -> dict[str, str]:
    return {**os.environ, "THREADCITE_DATABASE_URL": url, "PYTHONPATH": str(ROOT)}


@pytest.fixture
def indexer(database_url: str, tmp_path: Path) -> Indexer:
    def run(*words: str, url: str = database_url) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "indexer", *words],
            env=environment(url),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


def test_a_backfill_prints_one_json_object_and_exits_0(indexer: Indexer, tmp_path: Path) -> None:
    (tmp_path / "posts.jsonl").write_bytes(lines([record(n) for n in range(1, 11)]))
    done = indexer("backfill", "archive:posts.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["seen"], report["indexed"], report["state"]) == (10, 10, "done")
    status = json.loads(indexer("status", "--json").stdout)
    assert status["posts"]["indexed"] == 10
    assert status["model"] == "wordllama/l2-supercat-256"
    assert {"skipped", "set_aside", "truncated", "dimensions", "lag_s", "workers", "rate", "eta_s", "state"} <= set(
        status
    )


def test_a_broken_line_gives_exit_1_and_one_line_with_file_and_number(indexer: Indexer, tmp_path: Path) -> None:
    (tmp_path / "posts.jsonl").write_bytes(lines([record(1)]) + b"{oops\n" + lines([record(2)]))
    done = indexer("backfill", "archive:posts.jsonl", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["indexed"] == 2
    assert "posts.jsonl, line 2: broken JSON" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("backfill", "archive:absent.jsonl"), "archive:absent.jsonl: no such file"),
        (("backfill", "archive:"), "needs a path"),
        (("backfill", "mysql:x"), "none of archive:PATH, discourse, database:URL"),
        (("forget", "cat", "3"), "say user, post or topic"),
        (("models", "switch", "nosuch/model"), "No model nosuch/model"),
    ],
)
def test_a_wrong_call_gives_exit_2_and_one_line(words: tuple[str, ...], says: str, indexer: Indexer) -> None:
    done = indexer(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_an_unreachable_database_gives_exit_2_and_one_line(indexer: Indexer, tmp_path: Path) -> None:
    (tmp_path / "posts.jsonl").write_bytes(lines([record(1)]))
    done = indexer("backfill", "archive:posts.jsonl", url="postgresql://nobody@127.0.0.1:9/none")
    assert done.returncode == 2
    assert "THREADCITE_DATABASE_URL" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_every_command_teaches_itself(indexer: Indexer) -> None:
    for words in (["backfill"], ["status"], ["verify"], ["forget"], ["models", "fill"]):
        shown = indexer(*words, "--help")
        assert shown.returncode == 0
        assert len(shown.stdout.splitlines()) > 8, words


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_backfill_that_was_stopped_goes_on_from_its_last_batch(
    how: signal.Signals, indexer: Indexer, tmp_path: Path, database_url: str, database: Database
) -> None:
    count = 12_000
    (tmp_path / "posts.jsonl").write_bytes(lines([record(n, f"rain {n} " * 40) for n in range(1, count + 1)]))
    # Where the tests run in the background, everything below them ignores Ctrl-C unless told otherwise.
    argv = ["env", "--default-signal=INT", sys.executable, "-m", "indexer", "backfill", "archive:posts.jsonl"]
    process = subprocess.Popen(
        argv, env=environment(database_url), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    seen = 0
    with psycopg.connect(database_url, autocommit=True) as connection:
        while not seen and process.poll() is None:
            time.sleep(0.02)
            row = connection.execute("SELECT max(seen) FROM backfill").fetchone()
            seen = (row and row[0]) or 0
    process.send_signal(how)
    _, said = process.communicate(timeout=60)
    assert process.returncode != 0, "the run was over too soon to be stopped"
    if how is not signal.SIGKILL:
        assert b"goes on from there" in b" ".join(said.split())
        assert process.returncode == 130
    done = indexer("backfill", "archive:posts.jsonl", "--json")
    report = json.loads(done.stdout)
    assert 0 < report["resumed_after"] < count
    assert report["resumed_after"] + report["seen"] == count
    assert report["unchanged"] <= 1000, "at most one batch is repeated"
    with database.connection() as connection:
        assert connection.execute("SELECT count(*), sum(id) FROM public_post").fetchone() == (
            count,
            count * (count + 1) // 2,
        )
        assert connection.execute("SELECT count(*) FROM embedding").fetchone() == (count,)
    check_statistics(database)
    again = json.loads(indexer("backfill", "archive:posts.jsonl", "--json").stdout)
    assert (again["unchanged"], again["resumed_after"]) == (count, 0)
