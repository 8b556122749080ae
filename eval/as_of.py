"""An index as it stood when a question was asked, without the topic that the question began."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from forum.bm25 import Corpus
from forum.ports import Index, Vectors
from forum.types import Hit, Match, Passage, Scope


class AsOf:
    """The Index behind it, with every scope narrowed to before `asked_at` and to other topics than `topic_id`.

    Signals (links, size, age, likes, acceptance) always end at `asked_at`. With `whole_topics` the later posts of a
    topic that had begun by then may be found: that is how the question sets judge ("topics older than asked_at").
    """

    def __init__(self, index: Index, *, asked_at: datetime | None, topic_id: int, whole_topics: bool) -> None:
        self._index = index
        self._asked_at, self._topic_id, self._whole = asked_at, topic_id, whole_topics

    def _narrow(self, scope: Scope) -> Scope:
        excluded = scope.exclude_topic_ids | ({self._topic_id} if self._topic_id else frozenset())
        return replace(scope, before=self._asked_at, whole_topics=self._whole, exclude_topic_ids=frozenset(excluded))

    def nearest(self, vector: Vectors, *, limit: int, scope: Scope) -> list[Hit]:
        return self._index.nearest(vector, limit=limit, scope=self._narrow(scope))

    def keyword(self, text: str, *, limit: int, scope: Scope) -> list[Hit]:
        return self._index.keyword(text, limit=limit, scope=self._narrow(scope))

    def nearest_topics(self, vector: Vectors, *, limit: int, scope: Scope) -> list[Hit]:
        return self._index.nearest_topics(vector, limit=limit, scope=self._narrow(scope))

    def passages(self, post_ids: Sequence[int], *, scope: Scope) -> dict[int, Passage]:
        return self._index.passages(post_ids, scope=self._narrow(scope))

    def matches(self, post_ids: Sequence[int], *, text: str, vector: Vectors | None, scope: Scope) -> dict[int, Match]:
        return self._index.matches(post_ids, text=text, vector=vector, scope=self._narrow(scope))

    def neighbours(self, post_ids: Sequence[int], *, radius: int, scope: Scope) -> dict[int, list[Passage]]:
        return self._index.neighbours(post_ids, radius=radius, scope=self._narrow(scope))

    def statistics(self, terms: Sequence[str]) -> Corpus:
        return self._index.statistics(terms)

    def size(self) -> int:
        return self._index.size()
