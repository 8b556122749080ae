"""The sections of documents beside the posts: one Index over both, for scopes that name collections."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from pgvector import HalfVector

from clients.postgres.pool import Connection, Database
from clients.postgres.queries import queries
from forum.bm25 import Corpus, bm25
from forum.config_knowledge import CollectionSection
from forum.matching import Closeness, Counted, matched
from forum.ports import Index, Vectors
from forum.terms import query_terms, terms, tsquery
from forum.types import Hit, Match, Passage, Scope

_CANDIDATES = 300
_MANY = 400


class WithDocuments:
    """The index behind it, and beside its posts the sections of the scope's collections, ranked by the same scores.

    A section's id is below zero in hits and look-ups, so that it never meets a post's, and each section stands for
    itself, as a topic does among posts. Only collections that `collections` describes are ever read. A scope that
    looks back in time sees none: nobody knows what a document said then.
    """

    def __init__(
        self,
        index: Index,
        database: Database,
        collections: Mapping[str, CollectionSection],
        *,
        embedder: str,
        terms: int,
    ) -> None:
        self._index, self._database, self._collections = index, database, collections
        self._embedder, self._terms = embedder, terms
        self._sql = queries("documents")

    def nearest(self, vector: Vectors, *, limit: int, scope: Scope) -> list[Hit]:
        posts = self._index.nearest(vector, limit=limit, scope=scope)
        if not (names := self._names(scope)):
            return posts
        arguments = {"vector": HalfVector(vector), "model": self._embedder, "collections": names, "limit": limit}
        with self._database.connection() as connection:
            rows = connection.execute(self._sql["nearest"], arguments).fetchall()
        return _merged(posts, [_hit(section, float(score)) for section, score in rows], limit)

    def nearest_topics(self, vector: Vectors, *, limit: int, scope: Scope) -> list[Hit]:
        """Topics only: a section has no topic."""
        return self._index.nearest_topics(vector, limit=limit, scope=scope)

    def keyword(self, text: str, *, limit: int, scope: Scope) -> list[Hit]:
        """BM25 over the forum's and the documents' statistics together, so that the scores of both compare."""
        posts = self._index.keyword(text, limit=limit, scope=scope)
        if not (names := self._names(scope)):
            return posts
        corpus = self._corpus(query_terms(text, _MANY), names)
        rarest = query_terms(text, self._terms, corpus.frequencies)
        if not rarest:
            return posts
        counted = Counter(terms(text))
        weights = {term: counted[term] or 1 for term in corpus.frequencies}
        arguments = {
            "query": tsquery(rarest),
            "terms": list(weights),
            "collections": names,
            "candidates": max(_CANDIDATES, limit),
        }
        lengths: dict[int, int] = {}
        counts: dict[int, dict[str, int]] = defaultdict(dict)
        with self._database.connection() as connection:
            for section, length, term, count in connection.execute(self._sql["keyword_candidates"], arguments):
                lengths[section] = length
                counts[section][term] = count
        found = [_hit(one, bm25(counts[one], lengths[one], weights, corpus)) for one in lengths]
        return _merged(posts, found, limit)

    def passages(self, post_ids: Sequence[int], *, scope: Scope) -> dict[int, Passage]:
        wanted = [one for one in post_ids if one > 0]
        posts = self._index.passages(wanted, scope=scope) if wanted else {}
        ids = [-one for one in post_ids if one < 0]
        if not ids:
            return posts
        with self._database.connection() as connection:
            rows = connection.execute(self._sql["passages"], {"ids": ids, "collections": self._names(scope)}).fetchall()
        return {**posts, **{-row[0]: self._passage(*row[1:]) for row in rows}}

    def matches(self, post_ids: Sequence[int], *, text: str, vector: Vectors | None, scope: Scope) -> dict[int, Match]:
        wanted = [one for one in post_ids if one > 0]
        posts = self._index.matches(wanted, text=text, vector=vector, scope=scope) if wanted else {}
        ids = [-one for one in post_ids if one < 0]
        if not ids:
            return posts
        names, asked = self._names(scope), tuple(terms(text))
        counts: dict[int, dict[str, int]] = defaultdict(dict)
        described: dict[int, tuple[int, tuple[str, ...]]] = {}
        with self._database.connection() as connection:
            arguments = {"ids": ids, "terms": sorted(set(asked)), "collections": names}
            for section, length, title, heading, term, count in connection.execute(self._sql["term_counts"], arguments):
                described[-section] = (length, tuple(dict.fromkeys(terms(f"{title} {heading}"))))
                if term is not None:
                    counts[-section][term] = count
            closeness = self._closeness(connection, vector, ids, names, list(posts.values()))
        titles = [term for _, title_terms in described.values() for term in title_terms]
        corpus = self._corpus([*asked, *titles], names)
        counted = {
            one: Counted(counts=counts[one], length=length, title_terms=title_terms)
            for one, (length, title_terms) in described.items()
        }
        return {**posts, **matched(asked, counted, corpus, closeness)}

    def neighbours(self, post_ids: Sequence[int], *, radius: int, scope: Scope) -> dict[int, list[Passage]]:
        """The posts around each post; a section is cut so that it stands alone."""
        around = self._index.neighbours([one for one in post_ids if one > 0], radius=radius, scope=scope)
        return {one: around.get(one, []) for one in post_ids}

    def statistics(self, terms: Sequence[str]) -> Corpus:
        return self._corpus(terms, sorted(self._collections)) if self._collections else self._index.statistics(terms)

    def size(self) -> int:
        return self.statistics(()).documents

    def _names(self, scope: Scope) -> list[str]:
        return [] if scope.before is not None else sorted(scope.collections & self._collections.keys())

    def _corpus(self, asked: Collection[str], names: list[str]) -> Corpus:
        """How many posts and sections hold each term; a section's length is measured against the other sections'."""
        wanted = list(set(asked))
        # Before a connection is taken: whoever holds one and waits for another may wait for ever.
        posts = self._index.statistics(wanted)
        with self._database.connection() as connection:
            documents, length = self._statistics(connection, names)
            frequencies = self._frequencies(connection, wanted, names, posts.frequencies)
        average = length / documents if documents else 0.0
        return Corpus(documents=posts.documents + documents, average_length=average, frequencies=frequencies)

    def _statistics(self, connection: Connection, names: list[str]) -> tuple[int, int]:
        row = connection.execute(self._sql["statistics"], {"collections": names}).fetchone()
        return (int(row[0]), int(row[1])) if row else (0, 0)

    def _frequencies(
        self, connection: Connection, asked: Sequence[str], names: list[str], posts: Mapping[str, int]
    ) -> dict[str, int]:
        total = Counter(posts)
        if query := tsquery(asked):
            arguments = {"query": query, "terms": list(asked), "collections": names}
            total.update(dict(connection.execute(self._sql["document_frequencies"], arguments).fetchall()))
        return {term: count for term, count in total.items() if count > 0}

    def _closeness(
        self, connection: Connection, vector: Vectors | None, ids: list[int], names: list[str], posts: list[Match]
    ) -> Closeness | None:
        """The posts' own background where there are posts, so that the measures compare."""
        if vector is None:
            return None
        arguments = {"vector": HalfVector(vector), "model": self._embedder, "ids": ids, "collections": names}
        rows = connection.execute(self._sql["cosines"], arguments).fetchall()
        mean, spread = (0.0, 0.0)
        if posts:
            mean, spread = posts[0].background_mean, posts[0].background_spread
        elif row := connection.execute(self._sql["background"], arguments).fetchone():
            mean, spread = float(row[0]), float(row[1])
        cosines = {-section: float(cosine) for section, cosine in rows}
        return Closeness(embedder=self._embedder, cosines=cosines, mean=mean, spread=spread)

    def _passage(
        self, sha: str, collection: str, path: str, title: str, heading: str, anchor: str, page: int | None, text: str
    ) -> Passage:
        # The first heading often is the title again.
        parts = [title, *(part for part in heading.split(" › ") if part and part != title)]
        shown = " › ".join(parts) + (f" (p. {page})" if page else "")
        return Passage(
            content_id=f"doc:{sha}",
            kind="document",
            title=shown,
            category=collection,
            text=text,
            url=document_url(self._collections[collection].url, path=path, anchor=anchor, page=page),
        )


def document_url(template: str, *, path: str, anchor: str, page: int | None) -> str:
    """The operator's address with the place filled in; each part is quoted, so that it stays within its place."""
    stem = path.rpartition(".")[0] or path
    values: dict[str, Any] = {
        "{path}": quote(path, safe="/"),
        "{stem}": quote(stem, safe="/"),
        "{anchor}": quote(anchor, safe="="),
        "{page}": str(page or 1),
    }
    for name, value in values.items():
        template = template.replace(name, value)
    return template.removesuffix("#")


def _hit(section: int, score: float) -> Hit:
    return Hit(post_id=-section, topic_id=-section, score=score)


def _merged(posts: list[Hit], sections: list[Hit], limit: int) -> list[Hit]:
    """Both by score; of equals the post first, then the older."""
    return sorted([*posts, *sections], key=lambda hit: (-hit.score, hit.post_id < 0, abs(hit.post_id)))[:limit]
