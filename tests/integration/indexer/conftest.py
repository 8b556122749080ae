"""What the indexer's tests share: posts in Discourse's shape, a quick embedder, an ingest on this test's database."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clients.postgres.backfill_store import BackfillStore
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Database
from forum.config import Config
from forum.ports import EmbeddingModel, Vectors
from indexer.backfill import Progress
from indexer.backfill import backfill as run_backfill
from indexer.sources import open_source

Record = dict[str, Any]


class Letters:
    """An embedder without weights: counts of letters. `calls` holds the batches it was given."""

    def __init__(self, *, name: str = "test/letters", dimensions: int = 26, max_tokens: int = 512) -> None:
        self.model = EmbeddingModel(name=name, dimensions=dimensions, max_tokens=max_tokens)
        self.calls: list[list[str]] = []

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        vectors = np.full((len(texts), self.model.dimensions), 0.001, dtype=np.float32)
        for row, text in enumerate(texts):
            for char in text.lower():
                if "a" <= char <= "z":
                    vectors[row, (ord(char) - 97) % self.model.dimensions] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_passages([text])[0]
        return vector


def record(number: int, words: str | None = None, **facts: Any) -> Record:
    """A post in the shape of Discourse's API, in a topic of its own unless `topic_id` says otherwise."""
    text = words if words is not None else f"Post number {number} tells of the weather"
    day = f"2024-01-{number % 28 + 1:02d}T10:00:00.000Z"
    return {
        "id": number,
        "topic_id": number,
        "topic_title": f"Topic {facts.get('topic_id', number)}",
        "topic_slug": "topic",
        "post_number": 1,
        "user_id": 7,
        "username": "anna",
        "created_at": day,
        "updated_at": day,
        "cooked": f"<p>{text}</p>",
        "post_type": 1,
        "version": 1,
        "topic_archetype": "regular",
        "category_id": None,
        "hidden": False,
        "deleted_at": None,
        "user_deleted": False,
    } | facts


def lines(records: Sequence[Record]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in records)


@pytest.fixture
def letters() -> Letters:
    return Letters()


@pytest.fixture
def ingest(database: Database, letters: Letters) -> Ingest:
    return Ingest(database, letters, Config(), forum_host="forum.example")


@pytest.fixture
def backfill(database: Database, ingest: Ingest) -> Callable[..., tuple[Progress, list[str]]]:
    """Run a backfill of `archive:PATH`; returns its report and the problems it told of."""

    def run(path: Path, *, limit: int | None = None, batch_posts: int = 1000) -> tuple[Progress, list[str]]:
        problems: list[str] = []
        source = open_source(f"archive:{path}", Config(), on_problem=problems.append)
        done = run_backfill(source, ingest, BackfillStore(database), batch_posts=batch_posts, limit=limit)
        return done, problems

    return run


@pytest.fixture
def stored(database: Database) -> Callable[[], dict[int, str]]:
    """The texts that may be recalled now, by post id."""

    def read() -> dict[int, str]:
        with database.connection() as connection:
            return dict(connection.execute("SELECT id, text FROM public_post ORDER BY id").fetchall())

    return read


def check_statistics(database: Database) -> None:
    """The kept statistics are what counting everything anew gives."""
    with database.connection() as connection:
        kept = dict(connection.execute("SELECT term, df FROM term").fetchall())
        counted = dict(
            connection.execute(
                "SELECT t, count(*) FROM post, unnest(tsvector_to_array(terms)) t WHERE text IS NOT NULL GROUP BY t"
            ).fetchall()
        )
        corpus = connection.execute("SELECT documents, total_length FROM corpus").fetchone()
        both = connection.execute(
            "SELECT count(*), coalesce(sum(doc_length), 0) FROM post WHERE text IS NOT NULL"
        ).fetchone()
    assert kept == counted
    assert corpus == both
