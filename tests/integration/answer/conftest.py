"""The practice forum in an index of its own: read once by its own API, copied for each test that changes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count

import httpx
import psycopg
import pytest
from psycopg import sql

from bot.answer import answer
from bot.tools import Tools
from clients.composition import build_embedder, build_reranker
from clients.discourse import DiscourseClient
from clients.postgres.index import PostgresIndex
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Database
from demo.app import build_app, build_site
from forum.config import Config, ForumSection
from forum.ports import ChatModel
from forum.types import Answer, Question, SourcePost, StageRecord

BASE = "http://127.0.0.1:4200"
NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
#: The reranker's calibration is tested elsewhere: here every question is answered that finds something.
CONFIG = Config.parse({"forum": {"base_url": BASE}, "flags": {"zones": False}})
_NUMBER = count(1)


@pytest.fixture(scope="session")
def practice_template(postgres_url: str, template_database: str) -> str:
    """The name of a database that nobody is connected to, so that it can be copied."""
    pytest.importorskip("wordllama", reason="needs the `embedded` extra: pip install threadcite[embedded]")
    with Database(_created(postgres_url, "threadcite_practice_template", template_database)) as database:
        ingest = Ingest(database, build_embedder(CONFIG.embedder), CONFIG)
        forum = DiscourseClient(
            ForumSection(base_url=BASE, requests_per_minute=100_000),
            transport=httpx.WSGITransport(build_app(build_site(base_url=BASE))),
        )
        ingest.put_categories(forum.categories(), at=NOW)
        posts = [post for topic_id in _topics(forum) for post in forum.topic_posts(topic_id)]
        ingest.ingest(posts, observed_at=NOW, complete_topics=True)
        ingest.refresh()
    return "threadcite_practice_template"


@pytest.fixture(scope="session")
def practice(postgres_url: str, practice_template: str) -> Iterator[Database]:
    with Database(_created(postgres_url, "threadcite_practice", practice_template)) as database:
        yield database


@pytest.fixture
def changing(postgres_url: str, practice_template: str) -> Iterator[Database]:
    """A copy of the practice index that a test may change."""
    name = f"threadcite_practice_{next(_NUMBER)}"
    with Database(_created(postgres_url, name, practice_template)) as database:
        yield database
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="session")
def tools(practice: Database) -> Tools:
    return tools_on(practice)


def tools_on(database: Database, chat: ChatModel | None = None) -> Tools:
    embedder = build_embedder(CONFIG.embedder)
    index = PostgresIndex(database, embedder=embedder.model.name)
    return Tools(index=index, embedder=embedder, reranker=build_reranker(CONFIG.reranker), chat=chat, now=lambda: NOW)


def ask(
    tools: Tools, text: str, *, chat: ChatModel | None = None, config: Config = CONFIG, language: str | None = None
) -> Answer:
    """The answer to one question asked at NOW."""
    return answer(Question(text=text, language=language, asked_at=NOW), replace(tools, chat=chat), config)


def stage(given: Answer, name: str) -> StageRecord:
    """The trace's record of one stage."""
    return next(record for record in given.trace if record.stage == name)


def with_(**sections: dict[str, object]) -> Config:
    """CONFIG with some keys of some sections set."""
    data = CONFIG.model_dump(mode="json")
    for section, keys in sections.items():
        data[section] |= keys
    return Config.parse(data)


def _topics(forum: DiscourseClient) -> list[int]:
    topics: dict[int, None] = {}
    page: list[SourcePost] = forum.latest_posts()
    while page:
        topics |= dict.fromkeys(one.topic.id for one in page)
        lowest = min(one.post.id for one in page)
        page = [one for one in forum.latest_posts(before=lowest) if one.post.id < lowest]
    return list(topics)


def _created(server_url: str, name: str, template: str) -> str:
    with psycopg.connect(server_url, autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template)))
    return server_url.replace("/threadcite?", f"/{name}?", 1)
