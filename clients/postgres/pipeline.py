"""Runs a source through the ingest: batches of a few seconds each, one stored while the next is prepared."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime

from clients.postgres.ingest import Ingest
from clients.postgres.ingest_report import IngestReport
from forum.ports import PostSource
from forum.types import SourcePost

_SMALLEST = 64
#: About how long a batch may take.
_BATCH_S = 4.0


def run(
    source: PostSource,
    ingest: Ingest,
    *,
    cursor: str | None = None,
    largest: int = 1_000,
    limit: int | None = None,
    vectors: bool = True,
) -> Generator[IngestReport, None, None]:
    """What became of each batch, once it is stored with its mark; at most one batch is prepared ahead.

    Raises what the source and the ingest raise. Close it to wait for the batch that is being stored. Without
    `vectors` the texts can be found by keyword at once and wait for the embedding workers.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="store") as writer:
        stored: Future[IngestReport] | None = None
        for batch, mark in _batches(source, cursor, largest, limit):
            ingest.pausing.wait()
            prepared = ingest.prepare(
                batch,
                observed_at=datetime.now(UTC) if source.observes else None,
                complete_topics=source.complete_topics,
                declared_public=source.declared_public,
                vectors=vectors,
            )
            if stored is not None:
                yield stored.result()
            stored = writer.submit(ingest.commit, prepared, cursor=(source.name, mark))
        if stored is not None:
            yield stored.result()


def _batches(
    source: PostSource, cursor: str | None, largest: int, limit: int | None
) -> Iterator[tuple[list[SourcePost], str]]:
    """A slow embedder gets small batches, so that a kill costs little and progress is seen."""
    size = min(_SMALLEST, largest)
    batch: list[SourcePost] = []
    mark = cursor or ""
    for number, (post, at) in enumerate(source.posts(after=cursor), 1):
        batch.append(post)
        mark = at
        if len(batch) >= size or number == limit:
            began = time.monotonic()
            yield batch, mark
            seconds = max(time.monotonic() - began, 0.001)
            size = min(max(int(len(batch) / seconds * _BATCH_S), _SMALLEST), largest, 2 * size)
            batch = []
        if number == limit:
            return
    if batch:
        yield batch, mark
