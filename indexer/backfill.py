"""Drives a source through the pipeline, batch by batch, and leaves a mark after each from which it goes on."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice

from clients.postgres import pipeline
from clients.postgres.backfill_store import BackfillStore
from clients.postgres.ingest import Ingest
from clients.postgres.ingest_report import IngestReport
from clients.postgres.mark import Mark
from forum.ports import PostSource

_TOPICS = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """How far a run is: posts of this run, and the source's total where it tells."""

    seen: int = 0
    indexed: int = 0
    unchanged: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    set_aside: int = 0
    truncated: int = 0
    #: Posts that an earlier, stopped run had done.
    before: int = 0
    total: int | None = None
    seconds: float = 0.0
    #: What the run ended with: `done`, or `stopped` at its limit.
    state: str = "running"

    def plus(self, report: IngestReport, seconds: float) -> Progress:
        return Progress(
            seen=self.seen + report.seen,
            indexed=self.indexed + report.indexed,
            unchanged=self.unchanged + report.unchanged,
            skipped=self.skipped + Counter(report.skipped),
            set_aside=self.set_aside + report.set_aside,
            truncated=self.truncated + report.truncated,
            before=self.before,
            total=self.total,
            seconds=seconds,
        )


def backfill(
    source: PostSource,
    ingest: Ingest,
    marks: BackfillStore,
    *,
    batch_posts: int,
    limit: int | None = None,
    vectors: bool = True,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Progress:
    """Index a source from where its last run stopped; at the end, bring vectors and index up to date.

    Raises what the source and the pipeline raise; the mark then stands after the last whole batch.
    """
    began = time.monotonic()
    with marks.alone(source.name):
        _ = ingest.model  # A model that does not fit is refused before the first post.
        total = source.total()
        cursor, before = marks.begin(source.name, total)
        progress = Progress(before=before, total=total)
        state = "failed"
        try:
            if categories := source.categories():
                ingest.put_categories(categories, at=datetime.now(UTC))
            _put_topics(source, ingest)
            passed: Counter[str] = Counter()
            stored = pipeline.run(source, ingest, cursor=cursor, largest=batch_posts, limit=limit, vectors=vectors)
            with closing(stored) as reports:
                for report in reports:
                    progress = progress.plus(report, time.monotonic() - began)
                    passed = _note_passed(source, passed, marks)
                    on_progress(progress)
            _note_passed(source, passed, marks)
            ingest.refresh(vectors=vectors)
            if vectors:
                ingest.fill()
                ingest.models.build_index(ingest.model)
            state = "stopped" if limit is not None and progress.seen >= limit else "done"
        except KeyboardInterrupt:
            state = "stopped"
            raise
        finally:
            marks.end(source.name, "done" if state == "done" else "stopped" if state == "stopped" else "failed")
    return Progress(
        seen=progress.seen + source.skipped.total(),
        indexed=progress.indexed,
        unchanged=progress.unchanged,
        skipped=progress.skipped + source.skipped,
        set_aside=progress.set_aside,
        truncated=progress.truncated,
        before=before,
        total=progress.total,
        seconds=time.monotonic() - began,
        state=state,
    )


def _put_topics(source: PostSource, ingest: Ingest) -> None:
    topics = iter(source.topics())
    while chunk := list(islice(topics, _TOPICS)):
        ingest.put_topics(chunk, at=datetime.now(UTC))


def _note_passed(source: PostSource, noted: Counter[str], marks: BackfillStore) -> Counter[str]:
    """Count in the backfill what the source passed over since the last batch."""
    now = Counter(source.skipped)
    if new := now - noted:
        marks.advance(Mark(source=source.name, cursor=None, seen=new.total(), skipped=dict(new)))
    return now
