"""The references search as others do, over what had been written when the question was asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

pytest.importorskip("rank_bm25", reason="needs the `eval` extra")

from clients.postgres.pool import Database
from eval.question_set import Asked
from eval.references import official_plugin, okapi
from forum.ports import Embedder

_BEGUN = datetime(2020, 1, 1, tzinfo=UTC)


class _Database:
    """Posts as (topic, title, text) and topics' vectors; topic N began N days after _BEGUN."""

    def __init__(
        self, posts: Sequence[tuple[int, str, str]] = (), vectors: Mapping[int, Sequence[float]] | None = None
    ) -> None:
        self._posts, self._vectors = list(posts), vectors or {}

    @contextmanager
    def connection(self) -> Iterator[Any]:
        yield SimpleNamespace(execute=self._execute)

    def _execute(self, query: str) -> Any:
        if "topic_embedding" in query:
            vector = {topic: np.array(values, dtype=np.float32) for topic, values in self._vectors.items()}
            rows: list[tuple[Any, ...]] = [
                (topic, SimpleNamespace(to_numpy=lambda one=one: one)) for topic, one in vector.items()
            ]
        elif "min(created_at)" in query:
            topics = {post[0] for post in self._posts} | self._vectors.keys()
            rows = [(topic, _BEGUN + timedelta(days=topic)) for topic in topics]
        else:
            rows = list(self._posts)
        return SimpleNamespace(fetchall=lambda: rows)


class _Embedder:
    """The same vector for all; keeps what it was given."""

    def __init__(self, *vector: float) -> None:
        self._vector = np.array(vector, dtype=np.float32)
        self.asked: list[str] = []

    def embed_query(self, text: str) -> Any:
        self.asked.append(text)
        return self._vector


_POSTS = [
    (1, "Rain", "the roof leaks when it rains"),
    (1, "Rain", "a leak in the roof again, roof tiles"),
    (2, "Snow", "snow on the road"),
    (3, "Roof", "roof roof roof"),
    (4, "Garden", "roses and tulips"),
    (5, "Bread", "flour and water"),
    (6, "Wood", "oak and ash"),
    (7, "Iron", "rust and paint"),
]


def _asked(title: str = "roof", body: str = "", **more: Any) -> Asked:
    return Asked(id="q", title=title, body=body, **more)


def _okapi(asked: Asked, characters: int = 600) -> list[int]:
    return okapi(cast("Database", _Database(_POSTS)), [asked], characters)[0]


def _plugin(
    vectors: Mapping[int, Sequence[float]], asked: Asked, *, limit: int = 2, embedder: _Embedder | None = None
) -> list[int]:
    used = cast("Embedder", embedder or _Embedder(1.0, 1.0))
    return official_plugin(cast("Database", _Database(vectors=vectors)), used, [asked], limit=limit, characters=10)[0]


def test_okapi_ranks_topics_by_their_best_post_each_once() -> None:
    found = _okapi(_asked())
    assert found[:2] == [3, 1]
    assert sorted(found) == [1, 2, 3, 4, 5, 6, 7]


def test_okapi_reads_a_title_and_so_much_of_the_body() -> None:
    body = "tulips, or flour and water"
    assert _okapi(_asked(title="", body=body))[0] == 5
    assert _okapi(_asked(title="", body=body), characters=6)[0] == 4


def test_okapi_finds_no_topic_that_began_later_and_not_the_questions_own() -> None:
    assert _okapi(_asked(asked_at=_BEGUN + timedelta(days=3))) == [1, 2]
    assert 3 not in _okapi(_asked(topic_id=3))


def test_an_hour_counts_by_its_zone() -> None:
    """The second day's midnight, in UTC, is two in the morning further east."""
    east = timezone(timedelta(hours=2))
    at = (_BEGUN + timedelta(days=2)).astimezone(east)
    assert _okapi(_asked(asked_at=at)) == [1]
    assert _okapi(_asked(asked_at=at + timedelta(seconds=1))) == [1, 2]


def test_the_plugin_takes_the_nearest_by_signs_and_orders_them_by_cosine() -> None:
    """Topic 3 has the best cosine of all but a sign that differs, and two times `limit` topics have none."""
    vectors = {1: (0.1, 1.0), 2: (0.2, 1.0), 3: (1.0, -0.001), 4: (-1.0, -1.0)}
    assert _plugin(vectors, _asked(), limit=1, embedder=_Embedder(1.0, 0.1)) == [2]
    assert _plugin(vectors, _asked(), limit=2, embedder=_Embedder(1.0, 0.1)) == [3, 2]


def test_the_plugin_embeds_the_title_and_so_much_of_the_body() -> None:
    embedder = _Embedder(1.0, 1.0)
    _plugin({1: (1.0, 1.0)}, _asked(title="Rain", body="0123456789 and more"), embedder=embedder)
    assert embedder.asked == ["Rain\n0123456789"]


def test_the_plugin_finds_no_topic_that_began_later_and_not_the_questions_own_however_few_are_left() -> None:
    vectors = {1: (0.1, 1.0), 2: (1.0, 1.0), 3: (1.0, 0.9)}
    assert _plugin(vectors, _asked(asked_at=_BEGUN + timedelta(days=2)), limit=5) == [1]
    assert _plugin(vectors, _asked(topic_id=2), limit=5) == [3, 1]
