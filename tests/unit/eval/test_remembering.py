"""What was asked once is not asked again, and what is remembered is what was told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from eval.remembering import RememberingEmbedder, RememberingIndex
from forum.ports import Embedder, Index
from forum.types import Hit, Passage, Scope


class _Index:
    """Holds posts 1 and 2, and counts."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def keyword(self, text: str, *, limit: int, scope: Scope) -> list[Hit]:
        self.asked.append((text, limit))
        return [Hit(post_id=1, topic_id=1, score=float(limit))]

    def passages(self, post_ids: Sequence[int], *, scope: Scope) -> dict[int, Passage]:
        self.asked.append(tuple(post_ids))
        return {one: Passage(content_id=f"post:{one}:1", title="", text="") for one in post_ids if one < 3}


def test_the_same_question_is_asked_once() -> None:
    index = _Index()
    remembering = RememberingIndex(cast("Index", index))
    for limit in (5, 5, 9):
        assert remembering.keyword("q", limit=limit, scope=Scope())[0].score == limit
    assert index.asked == [("q", 5), ("q", 9)]


def test_another_scope_is_another_question() -> None:
    index = _Index()
    remembering = RememberingIndex(cast("Index", index))
    remembering.keyword("q", limit=5, scope=Scope())
    remembering.keyword("q", limit=5, scope=Scope(exclude_topic_ids=frozenset((1,))))
    assert len(index.asked) == 2


def test_only_posts_that_are_new_are_read_and_absent_ones_stay_absent() -> None:
    index = _Index()
    remembering = RememberingIndex(cast("Index", index))
    assert list(remembering.passages([1, 3], scope=Scope())) == [1]
    assert list(remembering.passages([3, 2, 1], scope=Scope())) == [2, 1]
    assert index.asked == [(1, 3), (2,)]


class _Embedder:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_query(self, text: str) -> Any:
        self.asked.append(text)
        return np.zeros(2, dtype=np.float32)


def test_a_question_is_embedded_once() -> None:
    embedder = _Embedder()
    remembering = RememberingEmbedder(cast("Embedder", embedder))
    for text in ("a", "b", "a"):
        remembering.embed_query(text)
    assert embedder.asked == ["a", "b"]
