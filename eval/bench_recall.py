"""How many of the true 25 nearest posts the vector index finds, how fast, and under filters."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import numpy as np
import psycopg
from pgvector import HalfVector

from clients.postgres.index import PostgresIndex
from clients.postgres.model_store import ModelStore
from clients.postgres.pool import Connection
from eval.bench_database import SHARES, bench_database, make_posts, sizes
from eval.server_memory import peak_memory
from forum.ports import EmbeddingModel, Vectors
from forum.types import Scope

_LIMIT = 25
_QUESTIONS = 100
#: Other questions that go before.
_WARMING = 400
_MEMBERS = 40
#: Topics differ in so many directions, as texts do. Drawn in all 1,024 they stand at right angles to one another: then
#: nothing near shows the way, and a graph leads to the wrong topic for a fifth of the questions over 425,000 posts.
_DIRECTIONS = 48
_NOISE = 1.1


def bench_recall(*, rows: int, dimensions: int) -> dict[str, Any]:
    """Vectors in clusters of about 40, as topics are; questions lie near a cluster. The product's own `nearest`.

    Others go before, and what the build has left to write is written: the server has been running.

    `exact_p50_ms` is the same without an index. `filters`: a persona's categories that keep a share of the posts.
    `plan`: whether the server says that it walks the index, and does not scan. `build_peak_mib`: the server's whole
    memory while the index is built, its shared buffers (which hold the posts by then) included.
    """
    model = EmbeddingModel(name=f"bench/random-{dimensions}", dimensions=dimensions, max_tokens=512)
    centres = _topics(max(rows // _MEMBERS, 1), dimensions)

    def fill(connection: Connection) -> None:
        make_posts(connection, rows)
        connection.execute(
            "INSERT INTO embedding_model (name, dimensions, active) VALUES (%s, %s, true)", (model.name, dimensions)
        )
        rng = np.random.default_rng(1)
        statement = "COPY embedding (post_id, model_id, content_hash, vector) FROM STDIN (FORMAT BINARY)"
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            copy.set_types(["int8", "int2", "bytea", "halfvec"])
            for first in range(0, rows, 4096):
                count = min(4096, rows - first)
                for at, vector in enumerate(_near(centres, count, rng), start=first + 1):
                    copy.write_row((at, 1, b"x", HalfVector(vector)))

    with bench_database(f"bench_recall_{rows}_{dimensions}_{_DIRECTIONS}", fill) as database:
        store = ModelStore(database)
        # Built anew each time, so that its time is always told.
        with database.connection() as connection:
            connection.execute("DROP INDEX IF EXISTS embedding_hnsw_1")
        started = time.perf_counter()
        with peak_memory(database) as memory:
            kind = store.build_index(store.ensure(model), at_least=1)
        build_s = time.perf_counter() - started
        with database.connection() as connection, suppress(psycopg.errors.InsufficientPrivilege):
            connection.execute("CHECKPOINT")  # else the build's pages are written out while the questions are timed
        drawn = _near(centres, _WARMING + _QUESTIONS, np.random.default_rng(2))
        warming, questions = drawn[:_WARMING], drawn[_WARMING:]
        index = PostgresIndex(database, embedder=model.name)
        scopes = {1.0: Scope()} | {share: Scope(category_ids=frozenset((one,))) for one, share in SHARES if one != 2}
        _, plan = index.plan(questions[0])
        _ask(index, warming, Scope())
        found = {kept: _ask(index, questions, scope) for kept, scope in scopes.items()}
        with database.connection() as connection:
            connection.execute("UPDATE embedding_model SET index_kind = 'none'")
        exact = {kept: _ask(index, questions[:30], scope) for kept, scope in scopes.items()}
        with database.connection() as connection:
            connection.execute("UPDATE embedding_model SET index_kind = %s", (kind,))
            size = connection.execute("SELECT pg_relation_size('embedding_hnsw_1')").fetchone()
        held = sizes(database, "embedding", "post", "topic")
    whole = found[1.0]
    return {
        "rows": rows,
        "dimensions": dimensions,
        "index": kind,
        f"recall@{_LIMIT}": _recall(whole[0], exact[1.0][0]),
        "p50_ms": _percentile(whole[1], 50),
        "p95_ms": _percentile(whole[1], 95),
        "exact_p50_ms": _percentile(exact[1.0][1], 50),
        "filters": [
            {
                "kept": kept,
                f"recall@{_LIMIT}": _recall(found[kept][0], exact[kept][0]),
                "rows_min": min(map(len, found[kept][0])),
                "p95_ms": _percentile(found[kept][1], 95),
            }
            for kept in scopes
            if kept < 1
        ],
        "plan": "index" if "embedding_hnsw_1" in plan else "scan",
        "fallbacks": index.fallbacks,
        "build_s": round(build_s, 1),
        "build_peak_mib": round(memory.mib),
        "index_bytes": size[0] if size else 0,
        "bytes": held,
    }


def _topics(count: int, dimensions: int) -> Vectors:
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(_DIRECTIONS, dimensions)).astype(np.float32)
    return _unit(rng.normal(size=(count, _DIRECTIONS)).astype(np.float32) @ directions)


def _near(centres: Vectors, count: int, rng: np.random.Generator) -> Vectors:
    chosen = centres[rng.integers(0, len(centres), count)]
    noise = rng.normal(size=chosen.shape).astype(np.float32) * np.float32(_NOISE / chosen.shape[1] ** 0.5)
    return _unit(chosen + noise)


def _unit(vectors: Vectors) -> Vectors:
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _ask(index: PostgresIndex, questions: Vectors, scope: Scope) -> tuple[list[set[int]], list[float]]:
    index.nearest(questions[0], limit=_LIMIT, scope=scope)
    found: list[set[int]] = []
    times: list[float] = []
    for vector in questions:
        started = time.perf_counter()
        found.append({hit.post_id for hit in index.nearest(vector, limit=_LIMIT, scope=scope)})
        times.append((time.perf_counter() - started) * 1000)
    return found, times


def _recall(found: list[set[int]], exact: list[set[int]]) -> float:
    shares = [len(one & true) / len(true) for one, true in zip(found, exact, strict=False) if true]
    return round(float(np.mean(shares)), 4)


def _percentile(values: list[float], percent: int) -> float:
    return round(float(np.percentile(values, percent)), 2)
