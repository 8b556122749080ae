"""A small forum in a real Postgres, written through the real pipeline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from clients.postgres.index import PostgresIndex
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Database
from clients.wordllama_embedder import WordLlamaEmbedder
from forum.config import Config
from forum.types import Post, SourcePost, Topic

START = datetime(2025, 1, 1, tzinfo=UTC)
Write = Callable[[Sequence[tuple[int, str, str]]], None]


@pytest.fixture
def embedder() -> WordLlamaEmbedder:
    pytest.importorskip("wordllama", reason="needs the `embedded` extra")
    return WordLlamaEmbedder()


@pytest.fixture
def index(database: Database, embedder: WordLlamaEmbedder) -> PostgresIndex:
    return PostgresIndex(database, embedder=embedder.model.name)


@pytest.fixture
def ingest(database: Database, embedder: WordLlamaEmbedder) -> Ingest:
    return Ingest(database, embedder, Config())


@pytest.fixture
def write(ingest: Ingest) -> Write:
    """write([(topic, title, text), ...]): posts numbered from 1, one an hour."""

    def write(rows: Sequence[tuple[int, str, str]]) -> None:
        numbers: dict[int, int] = {}
        posts = []
        for at, (topic, title, text) in enumerate(rows, start=1):
            numbers[topic] = numbers.get(topic, 0) + 1
            when = START + timedelta(hours=at)
            posts.append(
                SourcePost(
                    post=Post(
                        id=at,
                        topic_id=topic,
                        post_number=numbers[topic],
                        cooked=f"<p>{text}</p>",
                        created_at=when,
                        updated_at=when,
                        user_id=1,
                        username="ann",
                    ),
                    topic=Topic(id=topic, title=title, slug=f"topic-{topic}", created_at=when),
                )
            )
        ingest.ingest(posts)

    return write
