"""The whole sidecar around a practice forum: real web app, worker, queue and database; only the answer is made up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from werkzeug.serving import make_server

from bot.web import build_app
from bot.worker import run_worker
from clients.discourse import DiscourseClient
from clients.postgres.ingest import Ingest
from clients.postgres.ledger import Ledger
from clients.postgres.pool import Database
from clients.secrets import Secret
from clients.wordllama_embedder import WordLlamaEmbedder
from demo.runner import BOT_KEY, PracticeForum
from demo.settings import Settings
from forum.ask import Ask
from forum.config import Config
from forum.ports import Embedder
from forum.types import Answer, Evaluation, Question, Route, Zone

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


class Room:
    """`ask` writes a mention in the practice forum, `settled` waits until the ledger has nothing left to do."""

    def __init__(self, database: Database, forum: PracticeForum, embedder: Embedder, config: dict[str, Any]) -> None:
        self.database, self.practice, self.ledger = database, forum, Ledger(database)
        self.settings: dict[str, Any] = config
        self.answer: Callable[[Question], Answer] = made_up
        self._embedder = embedder
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._server: Any = None
        self._web_database = Database(database.url, max_size=8, timeout_s=2)

    def config(self) -> Config:
        return Config.parse(self.settings)

    def start_web(self) -> str:
        app = build_app(self._web_database, self.config, [Secret(SECRET)])
        self._server = make_server("127.0.0.1", 0, app, threaded=True)
        self._run(self._server.serve_forever)
        return f"http://127.0.0.1:{self._server.server_port}"

    def start_worker(self) -> None:
        client = DiscourseClient(self.config().forum, key=Secret(BOT_KEY))
        ingest = Ingest(self.database, self._embedder, self.config())
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
        for thread in self._threads:
            thread.join(20)
        self._web_database.close()

    def member(self, name: str = "windy_jane") -> Any:
        return self.practice.forum.store.user_named(name)

    def topic(self, title: str = "How does the rain gauge tip at all?", *, by: str = "windy_jane") -> Any:
        forum = self.practice.forum
        return forum.create_post(
            self.member(by), "I wonder how the rain gauge tips, does anybody know it?", title=title, category=1
        )

    def ask(self, topic_id: int, text: str = "how does the gauge tip?", *, by: str = "windy_jane", **more: Any) -> Any:
        return self.practice.forum.create_post(
            self.member(by), f"@{BOT} {text}", topic_id=topic_id, skip_validations=True, **more
        )

    def replies(self, topic_id: int) -> list[Any]:
        """What the bot wrote in the topic and still stands."""
        store = self.practice.forum.store
        bot = store.user_named(BOT).id
        return [p for p in store.posts.values() if p.topic_id == topic_id and p.user_id == bot and not p.deleted_at]

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


@pytest.fixture
def room(database: Database, embedder: Embedder) -> Iterator[Room]:
    settings = Settings(max_admin_api_reqs_per_minute=0)
    with PracticeForum(settings=settings) as forum:
        config = {
            "forum": {"base_url": forum.url, "bot_username": BOT, "requests_per_minute": 100_000, "timeout_s": 3},
            "bot": {
                "settle_s": 1,
                "limits": {"per_member_per_hour": 1000, "per_topic_per_hour": 1000, "per_trust_level": {}},
            },
            "indexer": {"poll_s": 2},
        }
        made = Room(database, forum, embedder, config)
        try:
            url = made.start_web()
            forum.add_hook(f"{url}/webhooks/discourse", SECRET)
            made.start_worker()
            yield made
        finally:
            made.stop()


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    with httpx.Client(trust_env=False, timeout=20) as client:
        yield client
