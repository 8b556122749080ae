"""How fast the keyword channel is, and how far its ten best are those of rank-bm25."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import numpy as np
from rank_bm25 import BM25Okapi

from clients.postgres.index import PostgresIndex
from clients.postgres.pool import Connection
from eval.bench_database import bench_database, make_posts
from forum.terms import terms, tsvector_literal
from forum.types import Scope

_QUESTIONS = 100
_WORDS = 60
_ASKED = 25
_BEST = 10


def bench_keyword(*, rows: int) -> dict[str, Any]:
    """Posts of 60 words by Zipf's law over 100,000 words; a question is 25 words, half from one post.

    `overlap@10`: the share of BM25Okapi's ten best posts (all words, all posts, in memory) among ours.
    """
    rng = np.random.default_rng(0)
    chances = 1 / np.arange(3, 100_003) ** 1.05
    words = rng.choice(100_000, size=(rows, _WORDS), p=chances / chances.sum())
    posts = [[f"w{word}" for word in row] for row in words]

    def fill(connection: Connection) -> None:
        make_posts(connection, rows)
        frequencies: Counter[str] = Counter()
        connection.execute("CREATE TEMPORARY TABLE said (id bigint, terms tsvector, length integer) ON COMMIT DROP")
        with connection.cursor() as cursor, cursor.copy("COPY said FROM STDIN") as copy:
            for at, post in enumerate(posts, start=1):
                literal, length, _ = tsvector_literal(post)
                copy.write_row((at, literal, length))
                frequencies.update(set(post))
        connection.execute("UPDATE post p SET terms = s.terms, doc_length = s.length FROM said s WHERE s.id = p.id")
        with connection.cursor() as cursor, cursor.copy("COPY term (term, df) FROM STDIN") as copy:
            for row in frequencies.items():
                copy.write_row(row)
        connection.execute("UPDATE corpus SET documents = %s, total_length = %s", (rows, rows * _WORDS))

    questions = [
        " ".join([*rng.choice(posts[int(rng.integers(rows))], _ASKED // 2), *rng.choice(posts[0], 2), *_common(rng)])
        for _ in range(_QUESTIONS)
    ]
    with bench_database(f"bench_keyword_{rows}", fill) as database:
        index = PostgresIndex(database, embedder="")
        found: list[list[int]] = []
        times: list[float] = []
        for measured in (False, True):
            for question in questions:
                started = time.perf_counter()
                hits = index.keyword(question, limit=25, scope=Scope())
                if measured:
                    times.append((time.perf_counter() - started) * 1000)
                    found.append([hit.post_id for hit in hits[:_BEST]])
    reference = BM25Okapi(posts)
    overlaps = []
    for question, ours in zip(questions, found, strict=True):
        best = np.argsort(-reference.get_scores(terms(question)), kind="stable")[:_BEST] + 1
        overlaps.append(len(set(ours) & set(best.tolist())) / _BEST)
    return {
        "rows": rows,
        "p50_ms": round(float(np.percentile(times, 50)), 2),
        "p95_ms": round(float(np.percentile(times, 95)), 2),
        f"overlap@{_BEST}": round(float(np.mean(overlaps)), 4),
    }


def _common(rng: np.random.Generator) -> list[str]:
    return [f"w{word}" for word in rng.integers(0, 300, size=_ASKED - _ASKED // 2 - 2)]
