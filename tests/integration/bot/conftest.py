"""The whole sidecar around a practice forum: real web app, worker, queue and database; only the answer is made up."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import Any

import httpx
import psycopg
import pytest
from psycopg import sql
from werkzeug.serving import make_server

from bot.jobs import answer_job
from bot.web import build_app
from bot.worker import run_worker
from clients.discourse import DiscourseClient
from clients.postgres.ingest import Ingest
from clients.postgres.ledger import Ledger
from clients.postgres.pool import Database
from clients.postgres.queue import Queue
from clients.secrets import Secret
from clients.wordllama_embedder import WordLlamaEmbedder
from demo.runner import BOT_KEY, PracticeForum
from demo.settings import Settings
from forum.ask import Ask
from forum.config import Config
from forum.ports import Embedder
from forum.types import Answer, Evaluation, Question, Route, Zone

_NUMBER = count(1)
SECRET = "a secret of the tests"
BOT = "threadcite"


def made_up(question: Question) -> Answer:
    """An answer that shows what was asked."""
    return Answer(
        text=f"This is what the forum knows about: {question.text}",
        zone=Zone.OK,
        route=Route.ANSWERED,
        language="en",
        evaluation=Evaluation(has_answer=True, confidence=1.0, reason="made up"),
        trace_id=f"trace-{question.post_id}-{time.time_ns()}",
    )


def delivery(number: int, *, secret: str = SECRET, event: str = "post_created", **post: Any) -> dict[str, Any]:
    """What httpx needs to send a signed delivery about a plain post, with `post`'s keys put over it."""
    record = {
        "id": 10**9 + number,
        "topic_id": 10**9 + number,
        "post_number": 1,
        "user_id": 8,
        "username": "hexley",
        "raw": "A post.",
        "cooked": "<p>A post.</p>",
        "category_id": 1,
        "created_at": "2026-01-01T00:00:00.000Z",
        "updated_at": "2026-01-01T00:00:00.000Z",
        "version": 1,
        **post,
    }
    return signed(json.dumps({"post": record}).encode(), secret=secret, event=event)


def signed(body: bytes, *, secret: str = SECRET, event: str = "post_created", kind: str = "post") -> dict[str, Any]:
    """What httpx needs to send a body as the forum would."""
    mac = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "X-Discourse-Event-Type": kind,
        "X-Discourse-Event": event,
        "X-Discourse-Event-Signature": f"sha256={mac}",
    }
    return {"content": body, "headers": headers}


class Told(httpx.HTTPTransport):
    """Keeps what the worker asks the forum for: method and path."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(f"{request.method} {request.url.path}")
        return super().handle_request(request)


class Room:
    """`ask` writes a mention in the practice forum, `settled` waits until the ledger has nothing left to do."""

    def __init__(self, database: Database, forum: PracticeForum, embedder: Embedder, config: dict[str, Any]) -> None:
        self.database, self.practice, self.ledger = database, forum, Ledger(database)
        self.settings: dict[str, Any] = config
        self.answer: Callable[[Question], Answer] = made_up
        self._embedder = embedder
        self.told = Told()
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._server: Any = None
        self._web_database = Database(database.url, max_size=8, timeout_s=2)

    def reset(self) -> None:
        self.practice.fail_no_more()
        self.declined_before = self.ledger.counts().get("declined", 0)
        self.answer = made_up
        limits = {"per_member_per_hour": 1000, "per_topic_per_hour": 1000, "per_trust_level": {}}
        self.settings = {
            "forum": {
                "base_url": self.practice.url,
                "bot_username": BOT,
                "requests_per_minute": 100_000,
                "timeout_s": 2,
            },
            "bot": {"settle_s": 2.5, "llm_concurrency": 2, "limits": limits},
            "indexer": {"poll_s": 2},
        }

    def set(self, section: str, **values: Any) -> None:
        """Change the config while everything runs."""
        self.settings = {**self.settings, section: {**self.settings.get(section, {}), **values}}

    def config(self) -> Config:
        return Config.parse(self.settings)

    def start_web(self) -> str:
        app = build_app(self._web_database, self.config, [Secret(SECRET)])
        self._server = make_server("127.0.0.1", 0, app, threaded=True)
        self._run(self._server.serve_forever)
        self.hook = f"http://127.0.0.1:{self._server.server_port}/webhooks/discourse"
        return self.hook

    def start_worker(self) -> None:
        client = DiscourseClient(self.config().forum, key=Secret(BOT_KEY), transport=self.told)
        ingest = Ingest(self.database, self._embedder, self.config(), live=self.config)
        self._run(
            lambda: run_worker(self.database, client, ingest, lambda q: self.answer(q), self.config, stop=self._stop)
        )

    def _run(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        self._threads.append(thread)

    def stop(self) -> None:
        self._stop.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
        for thread in self._threads:
            thread.join(20)
        self._web_database.close()

    def member(self, name: str = "windy_jane") -> Any:
        return self.practice.forum.store.user_named(name)

    def topic(self, title: str = "How does the rain gauge tip at all?", *, by: str = "windy_jane", **more: Any) -> Any:
        """The first post of a new topic."""
        raw = f"I wonder how the rain gauge number {next(_NUMBER)} tips, does anybody know it?"
        return self.practice.forum.create_post(self.member(by), raw, title=title, **{"category": 1, **more})

    def say(self, topic_id: int, raw: str, *, by: str = "windy_jane", **more: Any) -> Any:
        """A member's post that is just that."""
        forum = self.practice.forum
        return forum.create_post(self.member(by), raw, topic_id=topic_id, skip_validations=True, **more)

    def ask(self, topic_id: int, text: str = "how does the gauge tip?", *, by: str = "windy_jane", **more: Any) -> Any:
        return self.say(topic_id, f"@{BOT} {text} ({next(_NUMBER)})", by=by, **more)

    def replies(self, topic_id: int) -> list[Any]:
        """What the bot wrote in the topic and still stands."""
        store = self.practice.forum.store
        bot = store.user_named(BOT).id
        mine = [p for p in store.posts.values() if p.topic_id == topic_id and p.user_id == bot]
        return [p for p in mine if not (p.deleted_at or p.user_deleted)]

    def received(self, post_id: int) -> bool:
        """Whether a delivery about the post has come in."""
        with self.database.connection() as connection:
            query = "SELECT 1 FROM receipt WHERE key LIKE %s"
            return connection.execute(query, [f"post_%:{post_id}:%"]).fetchone() is not None

    def until_idle(self) -> None:
        """Until nothing waits but what runs by the clock."""
        query = (
            "SELECT 1 FROM procrastinate_jobs WHERE queue_name IN ('answers', 'corrections')"
            " AND status IN ('todo', 'doing') UNION ALL SELECT 1 FROM receipt WHERE record IS NOT NULL"
        )

        def idle() -> bool:
            with self.database.connection() as connection:
                return connection.execute(query).fetchone() is None

        self.until(idle)

    def approve(self, post_id: int, **more: Any) -> None:
        """What the drafts page does."""
        ask = self.ledger.approve(post_id, **more)
        assert ask is not None
        with self.database.transaction() as connection:
            Queue().defer(connection, answer_job(ask.post_id, ask.topic_id))

    def make_bot_staff(self, moderator: bool = True) -> None:
        store = self.practice.forum.store
        store.commit([replace(self.member(BOT), moderator=moderator)], [])

    def until(self, true: Callable[[], Any], timeout_s: float = 30) -> Any:
        end = time.monotonic() + timeout_s
        while not (value := true()):
            assert time.monotonic() < end, f"not so within {timeout_s} s"
            time.sleep(0.05)
        return value

    def ended(self, post_id: int, timeout_s: float = 30) -> Ask:
        open_states = ("queued", "answering", "ready", "posting")

        def done() -> Ask | None:
            ask = self.ledger.load(post_id)
            return ask if ask is not None and ask.state.value not in open_states else None

        return self.until(done, timeout_s)


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    pytest.importorskip("wordllama", reason="needs the `embedded` extra")
    return WordLlamaEmbedder()


@pytest.fixture(scope="module")
def shared_room(postgres_url: str, template_database: str, embedder: Embedder) -> Iterator[Room]:
    """One sidecar for a module's tests: they keep apart by writing in topics of their own."""
    with sidecar(postgres_url, template_database, embedder) as made:
        yield made


@contextmanager
def sidecar(postgres_url: str, template_database: str, embedder: Embedder, **indexer: Any) -> Iterator[Room]:
    """A sidecar at work on a database and a practice forum of its own; `indexer` is set before it starts."""
    url = fresh_database(postgres_url, template_database)
    with Database(url, max_size=16) as database, PracticeForum(settings=Settings()) as forum:
        made = Room(database, forum, embedder, {})
        made.reset()
        if indexer:
            made.set("indexer", **indexer)
        try:
            forum.add_hook(made.start_web(), SECRET)
            made.start_worker()
            yield made
        finally:
            made.stop()


@pytest.fixture
def room(shared_room: Room) -> Room:
    """The module's sidecar with its settings, answers and faults as at first."""
    shared_room.reset()
    return shared_room


def fresh_database(postgres_url: str, template: str) -> str:
    """The URL of an empty migrated database on the session's server."""
    name = f"threadcite_room_{next(_NUMBER)}"
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template)))
    return postgres_url.replace("/threadcite?", f"/{name}?", 1)


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    with httpx.Client(trust_env=False, timeout=20) as client:
        yield client
