"""The searchable public posts: the posts, keyword and topics channels, and what is known of each post."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any, LiteralString

from pgvector import HalfVector
from psycopg.sql import SQL, Composed, Literal

from clients.postgres.arguments import array, joined, narrow, scope_arguments
from clients.postgres.closeness import Measured
from clients.postgres.keywords import Keywords, readings_of, term_counts
from clients.postgres.pool import Connection, Database
from clients.postgres.queries import queries
from forum.bm25 import Corpus
from forum.errors import ModelMismatch
from forum.matching import Closeness, Counted, matched, unknown_share
from forum.ports import Vectors
from forum.postings import Scored
from forum.terms import terms
from forum.types import Hit, Match, Passage, Scope, Signals

#: Candidates and ef of a bit index (from 250 on nothing is missed of 425,000 posts in topics; where vectors are nearly
#: at right angles 400 found .98), and ef of a halfvec index for .98 at 25 (200 gives .988, and the same topics).
BIT_CANDIDATES = 360
EF_SEARCH = 150
#: The most that pgvector takes.
_MOST_EF = 1_000
#: Under this many vectors an exact scan costs less than a graph walk, and misses nothing.
SMALL = 5_000
#: Share of the index under which a filter makes the graph walk longer than an exact scan.
SELECTIVE = 0.1
_KEEP_S = 600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Model:
    id: int
    name: str
    dimensions: int
    kind: str
    #: Vectors, counted up to SMALL.
    few: int


class PostgresIndex:
    """The Index over one database for questions embedded by the model named `embedder`.

    Its methods raise DatabaseUnavailable, and those that take a vector ModelMismatch when the active vectors are
    not that model's (or there are none yet). `fallbacks` counts the exact scans that an index came up short for.
    """

    def __init__(self, database: Database, *, embedder: str) -> None:
        self._database = database
        self._embedder = embedder
        self._sql = queries("index")
        self._keywords = Keywords()
        self._scope_sql: LiteralString = self._sql["scope"]
        self._measured = Measured(embedder)
        self._category_sizes: tuple[float, dict[int, int]] = (-_KEEP_S, {})
        #: Models with SMALL vectors or more: counting them for each question would cost a millisecond.
        self._large: frozenset[int] = frozenset()
        #: The model that was asked last: its vectors stay its own, whichever is active now.
        self._model: _Model | None = None
        self.fallbacks = 0

    def nearest(self, vector: Vectors, *, limit: int, scope: Scope) -> list[Hit]:
        """Cosine over the active model's vectors; never fewer rows than exist, whatever was deleted or filtered."""
        with self._database.reading(scope.thread) as connection:
            model = self._active(connection, vector, limit)
            arguments = {**scope_arguments(scope), "vector": HalfVector(vector), "limit": limit}
            arguments["candidates"] = max(BIT_CANDIDATES, 10 * limit)
            for way in () if self._selective(connection, scope) else _ways(model, scope):
                found = _hits(connection, self._query(way, model), arguments)
                if len(found) >= limit:
                    return found
                self.fallbacks += 1
            return _hits(connection, self._query("nearest_exact", model), arguments)

    def plan(self, vector: Vectors) -> tuple[str, str]:
        """How the server would run channel `posts` for this vector: the kind of the index, and its EXPLAIN."""
        with self._database.connection() as connection:
            model = self._active(connection, vector, 25)
            way = (*_ways(model, Scope()), "nearest_exact")[0]
            arguments = {
                **scope_arguments(Scope()),
                "vector": HalfVector(vector),
                "limit": 25,
                "candidates": BIT_CANDIDATES,
            }
            rows = connection.execute(SQL("EXPLAIN ") + self._query(way, model), arguments).fetchall()
        return way.split("_")[1], "\n".join(row[0] for row in rows)

    def nearest_topics(self, vector: Vectors, *, limit: int, scope: Scope) -> list[Hit]:
        """Cosine over topic vectors; each hit names the topic's nearest post."""
        with self._database.reading(scope.thread) as connection:
            model = self._active(connection, vector)
            arguments = {**scope_arguments(scope), "vector": HalfVector(vector), "limit": limit}
            return _hits(connection, self._query("nearest_topics", model), arguments)

    def keyword(self, text: str, *, limit: int, scope: Scope) -> list[Hit]:
        """BM25Okapi over all terms of the question and all posts of the scope (see KEYWORD_POSTINGS).

        Any text will do; one without a term that the forum holds finds nothing.
        """
        with self._database.reading(scope.thread) as connection:
            weights, corpus = self._keywords.weights(connection, text, scope)
            return self._in_scope(connection, self._keywords.scored(connection, weights, corpus, limit), limit, scope)

    def keyword_terms(self, text: str, *, scope: Scope) -> Mapping[str, int]:
        """What `keyword` asks for: each term that the forum holds, and how often it counts."""
        with self._database.reading(scope.thread) as connection:
            return self._keywords.weights(connection, text, scope)[0]

    def matches(self, post_ids: Sequence[int], *, text: str, vector: Vectors | None, scope: Scope) -> dict[int, Match]:
        """How each public post of `post_ids` fits: the same measures for all, whichever channel found it."""
        readings, _ = readings_of(text)
        counts: dict[int, dict[str, int]] = {}
        described: dict[int, tuple[int, tuple[str, ...]]] = {}
        closeness: Closeness | None = None
        with self._database.reading(scope.thread) as connection:
            corpus = self._keywords.corpus(connection, list(chain(*readings)), scope)
            asked = min(readings, key=lambda reading: unknown_share(reading, corpus))
            meant, corpus = self._keywords.respelled(connection, asked, corpus)
            asked = tuple(meant.get(term, term) for term in asked)
            arguments = {"ids": array(post_ids), "terms": joined(set(asked))}
            for post, length, title, said in connection.execute(self._sql["term_counts"], arguments).fetchall():
                described[post] = (length, _title_terms(title))
                counts[post] = term_counts(said)
            titles = {term for _, title_terms in described.values() for term in title_terms} - set(asked)
            frequencies = {**self._keywords.corpus(connection, list(titles)).frequencies, **corpus.frequencies}
            corpus = replace(corpus, frequencies=frequencies, novelty=self._keywords.novelty(connection))
            if vector is not None:
                model = self._model or self._active(connection, vector)
                closeness = self._measured.closeness(
                    connection, vector, post_ids, scope, model_id=model.id, documents=corpus.documents
                )
        posts = {
            post: Counted(counts=counts[post], length=length, title_terms=title_terms)
            for post, (length, title_terms) in described.items()
        }
        return matched(asked, posts, corpus, closeness)

    def passages(self, post_ids: Sequence[int], *, scope: Scope) -> dict[int, Passage]:
        """The posts among `post_ids` that are public now and in scope, with their community signals."""
        with self._database.reading(scope.thread) as connection:
            rows = connection.execute(
                self._scoped("passages"), {**scope_arguments(scope), "ids": array(post_ids)}
            ).fetchall()
        return {row[0]: _passage(row) for row in rows}

    def neighbours(self, post_ids: Sequence[int], *, radius: int, scope: Scope) -> dict[int, list[Passage]]:
        """Of each post, the public posts of the same topic up to `radius` post numbers away, in order."""
        with self._database.reading(scope.thread) as connection:
            found = connection.execute(
                self._sql["neighbour_ids"], {**scope_arguments(scope), "ids": array(post_ids), "radius": radius}
            ).fetchall()
        passages = self.passages(sorted({near for _, near in found}), scope=scope) if found else {}
        around: dict[int, list[Passage]] = {one: [] for one in post_ids}
        for one, near in found:
            if near in passages:
                around[one].append(passages[near])
        return around

    def statistics(self, terms: Sequence[str]) -> Corpus:
        """A term that no post holds is left out."""
        with self._database.connection() as connection:
            return self._keywords.corpus(connection, terms)

    def size(self) -> int:
        """How many public posts the statistics count."""
        return self.statistics(()).documents

    def _query(self, name: str, model: _Model) -> Composed:
        return self._scoped(name, model=Literal(model.id), dims=Literal(model.dimensions))

    def _scoped(self, name: str, **literals: Literal) -> Composed:
        return SQL(self._sql[name]).format(scope=SQL(self._scope_sql), **literals)

    def _active(self, connection: Connection, vector: Vectors, limit: int = 0) -> _Model:
        """The model to ask; `limit`: its index is then walked far enough for so many, over this connection."""
        arguments = {
            "small": SMALL,
            "large": list(self._large),
            "bit": min(max(BIT_CANDIDATES, 10 * limit), _MOST_EF),
            "halfvec": min(max(EF_SEARCH, limit), _MOST_EF),
        }
        row = connection.execute(self._sql["active_model"], arguments).fetchone()
        if row is None:
            raise ModelMismatch("The index has no vectors yet. Run `python -m indexer backfill SOURCE`.")
        model = _Model(id=row[0], name=row[1], dimensions=row[2], kind=row[3] or "", few=row[4])
        if model.few >= SMALL:
            self._large = self._large | {model.id}
        if model.name != self._embedder or model.dimensions != len(vector):
            raise ModelMismatch(
                f"The active vectors are {model.name}'s ({model.dimensions} dimensions), the question's are "
                f"{self._embedder}'s ({len(vector)}). Set embedder to the active model or backfill the new one."
            )
        self._model = model
        return model

    def _in_scope(self, connection: Connection, found: Scored, limit: int, scope: Scope) -> list[Hit]:
        """The best that the scope lets through: as many as it takes are asked about, the best first."""
        done, upto = 0, 4 * limit if narrow(scope) else limit + 20
        hits: list[Hit] = []
        held = len(found)
        while len(hits) < limit and done < held:
            ids, scores = found.best(upto)
            rows = connection.execute(self._scoped("in_scope"), {**scope_arguments(scope), "ids": array(ids[done:])})
            topics: dict[int, int] = dict(rows.fetchall())
            hits += [
                Hit(post_id=post, topic_id=topics[post], score=score)
                for post, score in zip(ids[done:], scores[done:], strict=True)
                if post in topics
            ]
            done, upto = upto, 8 * upto
        return hits[:limit]

    def _selective(self, connection: Connection, scope: Scope) -> bool:
        if scope.category_ids is None:
            return False
        read_at, sizes = self._category_sizes
        if time.monotonic() - read_at > _KEEP_S:
            sizes = dict(connection.execute(self._sql["category_sizes"]).fetchall())
            self._category_sizes = (time.monotonic(), sizes)
        kept = sum(sizes.get(one, 0) for one in scope.category_ids)
        return kept < SELECTIVE * max(self._keywords.corpus(connection, ()).documents, 1)


@lru_cache(maxsize=8_192)
def _title_terms(title: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(terms(title)))


def _ways(model: _Model, scope: Scope) -> tuple[str, ...]:
    """The queries that walk the index, the fastest first; each may come short of the limit."""
    if model.few < SMALL or model.kind not in ("bit", "halfvec"):
        return ()
    plain = model.kind != "bit" or narrow(scope)
    return (f"nearest_{model.kind}",) if plain else ("nearest_bit_unfiltered", "nearest_bit")


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
