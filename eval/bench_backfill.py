"""How fast the index takes posts in: the pipeline alone, unchanged posts, and what it costs beside an embedder."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from clients.archive_source import ArchiveSource
from clients.composition import build_embedder, database_url, open_database
from clients.postgres import pipeline
from clients.postgres.backfill_store import BackfillStore
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Database
from forum.config import Config, EmbedderSection
from forum.ports import Embedder, EmbeddingModel, Vectors
from forum.types import Category, SourcePost, Topic

#: Batches grow to their size, and connections and caches fill.
_WARM_BATCHES = 8


class NullEmbedder:
    """Random unit vectors at no cost: what is left is the pipeline."""

    model = EmbeddingModel(name="null/384", dimensions=384, max_tokens=512)

    def __init__(self) -> None:
        self._pool = np.random.default_rng(0).standard_normal((4096, 384)).astype(np.float32)
        self._pool /= np.linalg.norm(self._pool, axis=1, keepdims=True)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        at = np.fromiter((hash(text) % 4096 for text in texts), dtype=np.int64, count=len(texts))
        vectors: Vectors = self._pool[at]
        return vectors

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_passages([text])[0]
        return vector


class Timed:
    """An embedder that counts its own seconds."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self.model, self.seconds = embedder, embedder.model, 0.0

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        began = time.perf_counter()
        try:
            return self._embedder.embed_passages(texts)
        finally:
            self.seconds += time.perf_counter() - began

    def embed_query(self, text: str) -> Vectors:
        return self._embedder.embed_query(text)


class First:
    """The first `count` posts of a source, read from it each time anew."""

    def __init__(self, source: ArchiveSource, count: int) -> None:
        self._source, self._count = source, count
        self.declared_public, self.complete_topics, self.observes = True, False, False
        self.skipped: Counter[str] = Counter()

    @property
    def name(self) -> str:
        return f"bench {self._count}"

    def total(self) -> int | None:
        return self._count

    def categories(self) -> Sequence[Category]:
        return ()

    def topics(self) -> Sequence[Topic]:
        return ()

    def posts(self, *, after: str | None = None) -> Iterator[tuple[SourcePost, str]]:
        return itertools.islice(self._source.posts(after=after), self._count)


def bench_backfill(posts: Path, *, rows: int, embedder: EmbedderSection, embedded_rows: int) -> dict[str, Any]:
    """`pipeline_posts_per_s` and `unchanged_posts_per_s` over `rows` posts; `overhead_ratio` over `embedded_rows`.

    `rss_first_mb` and `rss_last_mb`: this process's resident megabytes, the mean after each batch of the first and of
    the last quarter of `rows` (the very first batches, which fill the caches, left out); `rss_peak_mb`: the most.
    """
    source = ArchiveSource(posts)
    with _scratch() as database:
        null = NullEmbedder()
        resident: list[float] = []
        loaded, pipeline_s = _timed(First(source, rows), null, database, resident)
        again, unchanged_s = _timed(First(source, rows), null, database)
    timed = Timed(build_embedder(embedder))
    timed.embed_passages(["warm"])
    timed.seconds = 0.0
    with _scratch() as database:
        embedded, wall_s = _timed(First(source, embedded_rows), timed, database)
    return {
        "rows": loaded["seen"],
        "indexed": loaded["indexed"],
        "pipeline_s": round(pipeline_s, 2),
        "pipeline_posts_per_s": round(loaded["seen"] / pipeline_s, 1),
        "unchanged": again["unchanged"],
        "unchanged_posts_per_s": round(again["seen"] / unchanged_s, 1),
        "embedder": timed.model.name,
        "embedded_rows": embedded["seen"],
        "embedded_posts_per_s": round(embedded["seen"] / wall_s, 1),
        "overhead_ratio": round((wall_s - timed.seconds) / wall_s, 4),
        **_steadiness(resident),
    }


def _steadiness(resident: Sequence[float]) -> dict[str, float]:
    """Growth is the last quarter over the first: 1 is flat."""
    if not resident:
        return {}
    warm = resident[min(_WARM_BATCHES, len(resident) - 1) :]
    quarter = max(1, len(warm) // 4)
    first, last = float(np.mean(warm[:quarter])), float(np.mean(warm[-quarter:]))
    return {
        "rss_first_mb": round(first, 1),
        "rss_last_mb": round(last, 1),
        "rss_peak_mb": round(max(resident), 1),
        "rss_growth": round(last / first, 3),
    }


def _resident_mb() -> float:
    import psutil  # of the extra `embedded`; the other benchmarks do without it

    return psutil.Process().memory_info().rss / 2**20


def _timed(
    source: First, embedder: Embedder, database: Database, resident: list[float] | None = None
) -> tuple[dict[str, int], float]:
    ingest = Ingest(database, embedder, Config(), forum_host="bench.example")
    _ = ingest.model
    BackfillStore(database).restart(source.name, None)
    counts: Counter[str] = Counter()
    began = time.perf_counter()
    for report in pipeline.run(source, ingest, largest=Config().indexer.batch_posts):
        counts += Counter(seen=report.seen, indexed=report.indexed, unchanged=report.unchanged)
        if resident is not None:
            resident.append(_resident_mb())
    return dict(Counter(seen=0, indexed=0, unchanged=0) | counts), time.perf_counter() - began


@contextmanager
def _scratch() -> Iterator[Database]:
    """A database of its own on the configured server, dropped afterwards."""
    url, name = database_url(), f"bench_{uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            with open_database(make_conninfo(url, dbname=name)) as database:
                yield database
        finally:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
