"""Retrieval as others do it, over the same posts: rank-bm25, and what the official plugin is known to do."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from rank_bm25 import BM25Okapi

from clients.postgres.pool import Database
from eval.question_set import Asked
from eval.runner import progress, query_of
from forum.ports import Embedder
from forum.terms import terms

_TOPICS = 100
_NEVER = np.datetime64("9999-01-01")
_BEGUN = "SELECT topic_id, min(created_at) FROM post GROUP BY topic_id"
_POSTS = "SELECT topic_id, title, text FROM public_post ORDER BY id"
_VECTORS = """
    SELECT te.topic_id, te.vector
    FROM topic_embedding te
    JOIN embedding_model m ON m.id = te.model_id AND m.active
    WHERE EXISTS (SELECT FROM public_post p WHERE p.topic_id = te.topic_id)
"""


def okapi(database: Database, questions: Sequence[Asked], characters: int) -> list[list[int]]:
    """Topics by the best BM25Okapi of their posts, title included, over our terms: every post is scored."""
    with database.connection() as connection:
        rows = connection.execute(_POSTS).fetchall()
    topics = np.array([row[0] for row in rows])
    begun = _begun(database, topics)
    index = BM25Okapi([terms(f"{title}\n{text}") for _, title, text in rows])
    out = []
    for one in progress(questions, "rank-bm25"):
        scores = np.asarray(index.get_scores(terms(f"{one.title}\n{one.body[:characters]}")), dtype=np.float64)
        scores[~_allowed(one, topics, begun)] = -np.inf
        out.append(_best(topics, scores))
    return out


def official_plugin(
    database: Database, embedder: Embedder, questions: Sequence[Asked], *, limit: int, characters: int
) -> list[list[int]]:
    """Topics by one vector each: `2 x limit` by Hamming distance of the signs, ordered by cosine, nothing reranked.

    The plugin embeds the beginning of a topic's posts as one text; here a topic's vector is the mean of its posts'.
    """
    with database.connection() as connection:
        rows = connection.execute(_VECTORS).fetchall()
    topics = np.array([row[0] for row in rows])
    vectors = np.array([row[1].to_numpy() for row in rows], dtype=np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    begun, signs = _begun(database, topics), vectors > 0
    out = []
    for one in progress(questions, "official plugin"):
        vector = embedder.embed_query(query_of(one).full[: len(one.title) + 1 + characters])
        scores = vectors @ vector
        distance = (signs != (vector > 0)).sum(axis=1).astype(np.float64)
        distance[~_allowed(one, topics, begun)] = np.inf
        near = np.argsort(distance, kind="stable")[: 2 * limit]
        near = near[np.isfinite(distance[near])]
        out.append([int(topics[at]) for at in near[np.argsort(-scores[near], kind="stable")]][:limit])
    return out


def _begun(database: Database, topics: np.ndarray) -> np.ndarray:
    with database.connection() as connection:
        rows = connection.execute(_BEGUN).fetchall()
    known = {topic: _instant(at) for topic, at in rows}
    return np.array([known.get(int(topic), _NEVER) for topic in topics], dtype="datetime64[us]")


def _allowed(one: Asked, topics: np.ndarray, begun: np.ndarray) -> np.ndarray:
    """Topics older than the question and not its own."""
    old = begun < np.datetime64(_instant(one.asked_at)) if one.asked_at else np.ones(len(topics), dtype=bool)
    return np.asarray(old & (topics != one.topic_id))


def _instant(at: datetime) -> datetime:
    return at.replace(tzinfo=None) - (at.utcoffset() or at - at)


def _best(topics: np.ndarray, scores: np.ndarray) -> list[int]:
    first: dict[int, None] = {}
    for at in np.argsort(-scores, kind="stable"):
        if not np.isfinite(scores[at]) or len(first) == _TOPICS:
            break
        first.setdefault(int(topics[at]), None)
    return list(first)
