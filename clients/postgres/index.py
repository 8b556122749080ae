"""The searchable public posts: the posts, keyword and topics channels, and what is known of each post."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Any, LiteralString

import numpy as np
from pgvector import HalfVector
from psycopg.sql import SQL, Composed, Literal

from clients.postgres.pool import Connection, Database, read_for
from clients.postgres.queries import queries
from forum.bm25 import Corpus, bm25
from forum.errors import ModelMismatch
from forum.matching import Closeness, Counted, matched, unknown_share
from forum.ports import Vectors
from forum.spelling import may_be_misspelled, near_spellings, respelled
from forum.terms import query_terms, terms, tsquery
from forum.types import Hit, Match, Passage, Scope, Signals

#: How many of ts_rank's best are scored by BM25 (see keyword_candidates).
KEYWORD_CANDIDATES = 600
#: Ranking reads every post that holds a term: beyond this many, commoner terms find little and cost much.
KEYWORD_RANKED = 4_000
KEYWORD_LEAST = 3
#: Candidates and ef of a bit index for a recall of .98 at 25, and ef of a halfvec index for .97 (measured).
BIT_CANDIDATES = 400
EF_SEARCH = 200
#: Under this many vectors an exact scan costs less than a graph walk, and misses nothing.
SMALL = 5_000
#: Share of the index under which a filter makes the graph walk longer than an exact scan.
SELECTIVE = 0.1
_BACKGROUND = 256
#: More distinct terms than a question's first 600 characters hold.
_MANY = 400
_KEEP_S = 600.0
#: Unknown words of one question that are looked up in other spellings.
_RESPELLED = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class _Model:
    id: int
    name: str
    dimensions: int
    kind: str
    #: Vectors, counted up to SMALL.
    few: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Background:
    read_at: float
    vectors: Vectors
    created_at: tuple[datetime, ...]


class PostgresIndex:
    """The Index over one database for questions embedded by the model named `embedder`.

    Its methods raise DatabaseUnavailable, and those that take a vector ModelMismatch when the active vectors are
    not that model's (or there are none yet). `fallbacks` counts the exact scans that an index came up short for.
    """

    def __init__(self, database: Database, *, embedder: str, query_terms: int = 12) -> None:
        self._database = database
        self._embedder = embedder
        self._query_terms = query_terms
        self._sql = queries("index")
        self._scope_sql: LiteralString = self._sql["scope"]
        self._backgrounds: dict[int, _Background] = {}
        self._category_sizes: tuple[float, dict[int, int]] = (-_KEEP_S, {})
        self._novelty_known: tuple[float, float] = (-_KEEP_S, 0.0)
        self.fallbacks = 0

    def nearest(self, vector: Vectors, *, limit: int, scope: Scope) -> list[Hit]:
        """Cosine over the active model's vectors; never fewer rows than exist, whatever was deleted or filtered."""
        with self._database.transaction() as connection:
            read_for(connection, scope.thread)
            model = self._active(connection, vector)
            arguments = {**_scope(scope), "vector": HalfVector(vector), "limit": limit}
            if model.few < SMALL or model.kind not in ("bit", "halfvec") or self._selective(connection, scope):
                return _hits(connection, self._query("nearest_exact", model), arguments)
            candidates = max(BIT_CANDIDATES, 10 * limit)
            ef = min(candidates if model.kind == "bit" else max(EF_SEARCH, limit), 1000)
            connection.execute(SQL("SET LOCAL hnsw.ef_search = {}").format(Literal(ef)))
            connection.execute("SET LOCAL hnsw.iterative_scan = relaxed_order")
            found = _hits(
                connection, self._query(f"nearest_{model.kind}", model), {**arguments, "candidates": candidates}
            )
            if len(found) < limit:
                self.fallbacks += 1
                found = _hits(connection, self._query("nearest_exact", model), arguments)
            return found

    def plan(self, vector: Vectors) -> tuple[str, str]:
        """How the server would run channel `posts` for this vector: the kind of the index, and its EXPLAIN."""
        with self._database.transaction() as connection:
            model = self._active(connection, vector)
            kind = model.kind if model.few >= SMALL and model.kind in ("bit", "halfvec") else "exact"
            connection.execute("SET LOCAL hnsw.iterative_scan = relaxed_order")
            arguments = {**_scope(Scope()), "vector": HalfVector(vector), "limit": 25, "candidates": BIT_CANDIDATES}
            rows = connection.execute(SQL("EXPLAIN ") + self._query(f"nearest_{kind}", model), arguments).fetchall()
        return kind, "\n".join(row[0] for row in rows)

    def nearest_topics(self, vector: Vectors, *, limit: int, scope: Scope) -> list[Hit]:
        """Cosine over topic vectors; each hit names the topic's nearest post."""
        with self._database.reading(scope.thread) as connection:
            model = self._active(connection, vector)
            arguments = {**_scope(scope), "vector": HalfVector(vector), "limit": limit}
            return _hits(connection, self._query("nearest_topics", model), arguments)

    def keyword(self, text: str, *, limit: int, scope: Scope) -> list[Hit]:
        """BM25 over all terms of the question, among the posts that its rarest terms find.

        Any text will do; one without a term that the forum holds finds nothing.
        """
        with self._database.transaction() as connection:
            read_for(connection, scope.thread)
            readings = _readings(text)
            corpus = self._corpus(connection, [*query_terms(text, _MANY), *chain(*readings)], scope)
            asked = min(readings, key=lambda reading: unknown_share(reading, corpus))
            meant, corpus = self._respelled(connection, asked, corpus)
            rarest = query_terms(text, self._query_terms, corpus.frequencies)
            rarest = sorted({*rarest, *meant.values()}, key=lambda term: (corpus.frequencies[term], term))
            rarest = _affordable(rarest, corpus)
            if not rarest:
                return []
            counted = Counter(meant.get(term, term) for term in asked)
            weights = {term: counted[term] or 1 for term in corpus.frequencies}
            arguments = {
                **_scope(scope),
                "query": tsquery(rarest),
                "terms": list(weights),
                "candidates": max(KEYWORD_CANDIDATES, limit),
            }
            connection.execute(self._sql["keyword_plan"])
            topics: dict[int, int] = {}
            lengths: dict[int, int] = {}
            counts: dict[int, dict[str, int]] = defaultdict(dict)
            for post, topic, length, term, count in connection.execute(self._scoped("keyword_candidates"), arguments):
                topics[post], lengths[post] = topic, length
                counts[post][term] = count
        scored = [
            Hit(post_id=post, topic_id=topic, score=bm25(counts[post], lengths[post], weights, corpus))
            for post, topic in topics.items()
        ]
        return sorted(scored, key=lambda hit: (-hit.score, hit.post_id))[:limit]

    def matches(self, post_ids: Sequence[int], *, text: str, vector: Vectors | None, scope: Scope) -> dict[int, Match]:
        """How each public post of `post_ids` fits: the same measures for all, whichever channel found it."""
        readings = _readings(text)
        counts: dict[int, dict[str, int]] = defaultdict(dict)
        described: dict[int, tuple[int, tuple[str, ...]]] = {}
        closeness: Closeness | None = None
        with self._database.reading(scope.thread) as connection:
            corpus = self._corpus(connection, list(chain(*readings)), scope)
            asked = min(readings, key=lambda reading: unknown_share(reading, corpus))
            meant, corpus = self._respelled(connection, asked, corpus)
            asked = tuple(meant.get(term, term) for term in asked)
            for post, length, title, term, count in connection.execute(
                self._sql["term_counts"], {"ids": list(post_ids), "terms": sorted(set(asked))}
            ):
                described[post] = (length, tuple(dict.fromkeys(terms(title))))
                if term is not None:
                    counts[post][term] = count
            titles = {term for _, title_terms in described.values() for term in title_terms} - set(asked)
            frequencies = {**self._corpus(connection, list(titles)).frequencies, **corpus.frequencies}
            corpus = replace(corpus, frequencies=frequencies, novelty=self._novelty(connection))
            if vector is not None:
                closeness = self._closeness(connection, vector, post_ids, scope)
        posts = {
            post: Counted(counts=counts[post], length=length, title_terms=title_terms)
            for post, (length, title_terms) in described.items()
        }
        return matched(asked, posts, corpus, closeness)

    def passages(self, post_ids: Sequence[int], *, scope: Scope) -> dict[int, Passage]:
        """The posts among `post_ids` that are public now and in scope, with their community signals."""
        with self._database.reading(scope.thread) as connection:
            rows = connection.execute(self._scoped("passages"), {**_scope(scope), "ids": list(post_ids)}).fetchall()
        return {row[0]: _passage(row) for row in rows}

    def neighbours(self, post_id: int, *, radius: int, scope: Scope) -> list[Passage]:
        """The public posts of the same topic up to `radius` post numbers away, in order."""
        with self._database.reading(scope.thread) as connection:
            found = connection.execute(
                self._sql["neighbour_ids"], {**_scope(scope), "id": post_id, "radius": radius}
            ).fetchall()
        ids = [row[0] for row in found]
        passages = self.passages(ids, scope=scope) if ids else {}
        return [passages[one] for one in ids if one in passages]

    def document_frequencies(self, terms: Sequence[str]) -> Mapping[str, int]:
        """Posts that hold each term; a term that none holds is left out."""
        with self._database.connection() as connection:
            return dict(connection.execute(self._sql["document_frequencies"], {"terms": list(terms)}).fetchall())

    def size(self) -> int:
        """How many public posts the statistics count."""
        with self._database.connection() as connection:
            return self._corpus(connection, ()).documents

    def _query(self, name: str, model: _Model) -> Composed:
        return self._scoped(name, model=Literal(model.id), dims=Literal(model.dimensions))

    def _scoped(self, name: str, **literals: Literal) -> Composed:
        return SQL(self._sql[name]).format(scope=SQL(self._scope_sql), **literals)

    def _active(self, connection: Connection, vector: Vectors) -> _Model:
        row = connection.execute(self._sql["active_model"], {"small": SMALL}).fetchone()
        if row is None:
            raise ModelMismatch("The index has no vectors yet. Run `python -m indexer backfill SOURCE`.")
        model = _Model(id=row[0], name=row[1], dimensions=row[2], kind=row[3] or "", few=row[4])
        if model.name != self._embedder or model.dimensions != len(vector):
            raise ModelMismatch(
                f"The active vectors are {model.name}'s ({model.dimensions} dimensions), the question's are "
                f"{self._embedder}'s ({len(vector)}). Set embedder to the active model or backfill the new one."
            )
        return model

    def _corpus(self, connection: Connection, terms: Sequence[str], scope: Scope | None = None) -> Corpus:
        """The forum's statistics of these terms; without the topics and posts that the scope excludes."""
        documents, length = connection.execute(self._sql["statistics"]).fetchone() or (0, 0)
        arguments: dict[str, Any] = {"terms": list(set(terms))}
        frequencies: dict[str, int] = dict(connection.execute(self._sql["document_frequencies"], arguments).fetchall())
        if scope is not None and (scope.exclude_topic_ids or scope.exclude_post_ids):
            for term, count in connection.execute(self._sql["frequencies_within"], {**arguments, **_scope(scope)}):
                frequencies[term] = frequencies.get(term, 0) - count
        return Corpus(
            documents=documents,
            average_length=length / documents if documents else 0.0,
            frequencies={term: frequency for term, frequency in frequencies.items() if frequency > 0},
        )

    def _respelled(self, connection: Connection, asked: Sequence[str], corpus: Corpus) -> tuple[dict[str, str], Corpus]:
        """What each word that the forum does not hold was meant as, and the statistics with those words."""
        unknown = [term for term in asked if term not in corpus.frequencies and may_be_misspelled(term)][:_RESPELLED]
        if not unknown:
            return {}, corpus
        near = {spelling for term in unknown for spelling in near_spellings(term)}
        known = self._corpus(connection, list(near)).frequencies
        meant = respelled(unknown, known)
        added = {term: known[term] for term in meant.values()}
        return meant, replace(corpus, frequencies={**added, **corpus.frequencies})

    def _novelty(self, connection: Connection) -> float:
        read_at, share = self._novelty_known
        if time.monotonic() - read_at > _KEEP_S:
            (share,) = connection.execute(self._sql["novelty"]).fetchone() or (0.0,)
            self._novelty_known = (time.monotonic(), share)
        return share

    def _selective(self, connection: Connection, scope: Scope) -> bool:
        if scope.category_ids is None:
            return False
        read_at, sizes = self._category_sizes
        if time.monotonic() - read_at > _KEEP_S:
            sizes = dict(connection.execute(self._sql["category_sizes"]).fetchall())
            self._category_sizes = (time.monotonic(), sizes)
        kept = sum(sizes.get(one, 0) for one in scope.category_ids)
        return kept < SELECTIVE * max(self._corpus(connection, ()).documents, 1)

    def _closeness(self, connection: Connection, vector: Vectors, post_ids: Sequence[int], scope: Scope) -> Closeness:
        model = self._active(connection, vector)
        rows = connection.execute(
            self._query("cosines", model), {"vector": HalfVector(vector), "ids": list(post_ids)}
        ).fetchall()
        known = self._backgrounds.get(model.id)
        if known is None or time.monotonic() - known.read_at > _KEEP_S:
            known = self._read_background(connection, model)
            self._backgrounds = {model.id: known}
        old = np.array([scope.before is None or at < scope.before for at in known.created_at], dtype=bool)
        sample = known.vectors[old] @ vector if old.sum() > 1 else np.zeros(1, dtype=np.float32)
        return Closeness(
            embedder=self._embedder, cosines=dict(rows), mean=float(sample.mean()), spread=float(sample.std())
        )

    def _read_background(self, connection: Connection, model: _Model) -> _Background:
        every = max(1, self._corpus(connection, ()).documents // _BACKGROUND)
        rows = connection.execute(
            self._query("background", model), {"every": every, "limit": 2 * _BACKGROUND}
        ).fetchall()
        vectors = np.array([row[0].to_numpy() for row in rows], dtype=np.float32).reshape(len(rows), -1)
        return _Background(read_at=time.monotonic(), vectors=vectors, created_at=tuple(row[1] for row in rows))


def _affordable(rarest: Sequence[str], corpus: Corpus) -> list[str]:
    """The rarest terms that KEYWORD_RANKED posts hold together, and at least KEYWORD_LEAST of them."""
    kept: list[str] = []
    ranked = 0
    for term in rarest:
        ranked += corpus.frequencies[term]
        if len(kept) >= KEYWORD_LEAST and ranked > KEYWORD_RANKED:
            break
        kept.append(term)
    return kept


def _readings(text: str) -> list[tuple[str, ...]]:
    """The question's terms in order; both ways to stem them when the text does not show its language."""
    plain = tuple(terms(text))
    if set(query_terms(text, _MANY)) == set(plain):
        return [plain]
    return [plain, tuple(terms(text, "fr"))]


def _scope(scope: Scope) -> dict[str, Any]:
    return {
        "before": scope.before,
        "whole_topics": scope.whole_topics,
        "exclude_topics": sorted(scope.exclude_topic_ids),
        "exclude_posts": sorted(scope.exclude_post_ids),
        "categories": None if scope.category_ids is None else sorted(scope.category_ids),
    }


def _hits(connection: Connection, query: Composed, arguments: Mapping[str, Any]) -> list[Hit]:
    rows = connection.execute(query, arguments)
    return [Hit(post_id=post, topic_id=topic, score=float(score)) for post, topic, score in rows]


def _passage(row: tuple[Any, ...]) -> Passage:
    (post, topic, number, version, title, slug, category, category_id, tags, text, username, created, updated) = row[
        :13
    ]
    links, posts, age, topic_likes, likes, accepted, staff = row[13:]
    return Passage(
        content_id=f"post:{post}:{version}",
        post_id=post,
        topic_id=topic,
        post_number=number,
        version=version,
        title=title,
        slug=slug,
        category=category,
        category_id=category_id,
        tags=tuple(tags),
        text=text,
        username=username,
        created_at=created,
        updated_at=updated,
        signals=Signals(
            links_in=links,
            topic_posts=posts,
            topic_age_days=max(float(age), 0.0),
            topic_likes=topic_likes,
            post_likes=likes,
            accepted=accepted,
            staff=staff,
        ),
    )
