"""Posts between the two halves of an ingest, and what became of them after the second."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from clients.postgres.batch import Batch, Written
from forum.public import Admission


@dataclass(frozen=True, kw_only=True, slots=True)
class IngestReport:
    """What became of the posts that were handed in; seen = indexed + unchanged + the sum of skipped."""

    seen: int = 0
    indexed: int = 0
    unchanged: int = 0
    #: Reason -> posts.
    skipped: Mapping[str, int] = field(default_factory=dict)
    set_aside: int = 0
    truncated: int = 0
    #: Stored without a vector because the embedder does not answer; `fill` makes up for it.
    without_vector: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """Posts that were cleaned and embedded and wait to be stored."""

    batch: Batch
    admission: Admission
    seen: int
    unchanged: int
    skipped: Counter[str]
    without_vector: int
    shortened: frozenset[int]


def report(prepared: Prepared, written: Written) -> IngestReport:
    """What the batch came to, after the database has had its last word on versions and visibility."""
    texts = {row.source.post.id: row.indexed for row in prepared.batch.posts if row.indexed}
    skipped = Counter(prepared.skipped)
    for post_id in texts.keys() - written.stored:
        skipped["not public any more" if post_id in written.changed else "older version"] += 1
    aside = {row.post_id for row in prepared.batch.vectors if row.vector is None}
    cut_short = {one for one, text in texts.items() if text.truncated} | prepared.shortened
    return IngestReport(
        seen=prepared.seen,
        indexed=len(written.stored),
        unchanged=prepared.unchanged,
        skipped=dict(skipped),
        set_aside=len(aside & written.stored),
        truncated=len(cut_short & written.stored),
        without_vector=prepared.without_vector,
    )
