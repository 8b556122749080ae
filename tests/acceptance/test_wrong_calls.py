"""Wrong calls and configs: one clear line on stderr, exit code 2, never a trace of the stack."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("THREADCITE_")}
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def told(done: subprocess.CompletedProcess[str]) -> str:
    """The one line; fails when there is more than one or none."""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert done.returncode == 2, (done.returncode, done.stderr)
    assert len(lines) == 1, done.stderr
    return lines[0]


def test_an_unknown_config_key_is_named_with_the_nearest_one(tmp_path: Path) -> None:
    config = tmp_path / "config.yml"
    config.write_text("recall:\n  rrf: 30\n")
    line = told(run("bot", "check-config", str(config)))
    assert "recall.rrf" in line
    assert "recall.rrf_k" in line


def test_broken_yaml_is_named_by_file_and_line(tmp_path: Path) -> None:
    config = tmp_path / "config.yml"
    config.write_text("forum:\n  base_url: [\n")
    assert f"{config}, line" in told(run("bot", "check-config", str(config)))


def test_an_unreachable_database_is_told_without_its_password() -> None:
    done = run("bot", "ask", "anything?", THREADCITE_DATABASE_URL="postgresql://me:hunter2@127.0.0.1:9/forum")
    line = told(done)
    assert "THREADCITE_DATABASE_URL" in line
    assert "hunter2" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("indexer", "backfill", "archive:/no/such/file.jsonl"), "/no/such/file.jsonl"),
        (("indexer", "backfill", "nonsense"), "nonsense"),
        (("eval", "retrieval", "--questions", "/no/such/questions.jsonl"), "/no/such/questions.jsonl"),
        (("bot", "serve"), "THREADCITE_WEBHOOK_SECRET"),
        (("bot", "work"), "THREADCITE_DISCOURSE_API_KEY"),
    ],
)
def test_what_is_wrong_is_named(arguments: tuple[str, ...], named: str, tmp_path: Path) -> None:
    assert named in told(run(*arguments, THREADCITE_DATABASE_URL="postgresql://me@127.0.0.1:9/forum"))


def test_a_lone_surrogate_on_the_command_line_is_no_crash(database_url: str) -> None:
    done = subprocess.run(
        [sys.executable.encode(), b"-m", b"bot", b"ask", b"smile \x80 end?", b"--json"],
        cwd=ROOT,
        env={**os.environ, "THREADCITE_DATABASE_URL": database_url},
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert b'"zone": "abstain"' in done.stdout
