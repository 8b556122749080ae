"""What an index and an embedder have been asked once: many configurations of one question set ask much the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from forum.bm25 import Corpus
from forum.ports import Embedder, EmbeddingModel, Index, Vectors
from forum.types import Hit, Match, Passage, Scope

Found = TypeVar("Found")


class RememberingIndex:
    """The Index behind it, asked only for what it was not asked before; for an index that does not change."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._known: dict[Any, Any] = {}

    def nearest(self, vector: Vectors, *, limit: int, scope: Scope) -> list[Hit]:
        key = ("nearest", vector.tobytes(), limit, scope)
        return self._once(key, lambda: self._index.nearest(vector, limit=limit, scope=scope))

    def keyword(self, text: str, *, limit: int, scope: Scope) -> list[Hit]:
        key = ("keyword", text, limit, scope)
        return self._once(key, lambda: self._index.keyword(text, limit=limit, scope=scope))

    def nearest_topics(self, vector: Vectors, *, limit: int, scope: Scope) -> list[Hit]:
        key = ("topics", vector.tobytes(), limit, scope)
        return self._once(key, lambda: self._index.nearest_topics(vector, limit=limit, scope=scope))

    def passages(self, post_ids: Sequence[int], *, scope: Scope) -> dict[int, Passage]:
        return self._each(("passages", scope), post_ids, lambda ids: self._index.passages(ids, scope=scope))

    def matches(self, post_ids: Sequence[int], *, text: str, vector: Vectors | None, scope: Scope) -> dict[int, Match]:
        key = ("matches", text, vector is None, scope)
        return self._each(key, post_ids, lambda ids: self._index.matches(ids, text=text, vector=vector, scope=scope))

    def neighbours(self, post_ids: Sequence[int], *, radius: int, scope: Scope) -> dict[int, list[Passage]]:
        return self._index.neighbours(post_ids, radius=radius, scope=scope)

    def statistics(self, terms: Sequence[str]) -> Corpus:
        return self._index.statistics(terms)

    def size(self) -> int:
        return self._once(("size",), self._index.size)

    def _once(self, key: tuple[Any, ...], ask: Callable[[], Found]) -> Found:
        if key not in self._known:
            self._known[key] = ask()
        found: Found = self._known[key]
        return found

    def _each(
        self, key: tuple[Any, ...], ids: Sequence[int], ask: Callable[[Sequence[int]], dict[int, Found]]
    ) -> dict[int, Found]:
        known: dict[int, Found | None] = self._known.setdefault(key, {})
        if missing := [one for one in ids if one not in known]:
            known |= dict.fromkeys(missing) | ask(missing)
        return {one: found for one in ids if (found := known[one]) is not None}


class RememberingEmbedder:
    """The Embedder behind it; a question, or a batch of passages, is embedded once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}
        self._batches: dict[tuple[str, ...], Vectors] = {}

    @property
    def model(self) -> EmbeddingModel:
        return self._embedder.model

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if (key := tuple(texts)) not in self._batches:
            self._batches[key] = self._embedder.embed_passages(texts)
        return self._batches[key]

    def embed_query(self, text: str) -> Vectors:
        if text not in self._known:
            self._known[text] = self._embedder.embed_query(text)
        return self._known[text]
