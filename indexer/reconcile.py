"""Compares the index with the forum as it is now, tells the drift by kind, and mends it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Protocol

from clients.postgres.batch import Described
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Database
from clients.postgres.stored_posts import FOR_EVER
from clients.postgres.withdraw import look_again, withdraw
from forum.errors import RemoteRefused, SourceError
from forum.ports import PostSource
from forum.public import Admission
from forum.types import Category, SourcePost, Topic

#: The kinds of drift: not in the index; in it in an older form; in another topic; deleted or hidden at the forum;
#: in a category or topic that is closed now; a title, tag or state of a topic that changed.
KINDS = ("missing", "stale", "moved", "gone", "private", "topic")
_FORGOTTEN = "forgotten"
#: A forum that seems to have lost more than this share of the index answers wrongly more likely than it was emptied.
MOST_GONE = 0.2
_ALWAYS_ALLOWED = 50
_BATCH = 1_000


class Asked(Protocol):
    """The forum, asked about one post or topic. Raises RemoteRefused for what is not to be seen."""

    def post(self, post_id: int) -> SourcePost: ...

    def topic(self, topic_id: int) -> Topic: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Drift:
    """What a run found; `repaired` is false after a dry run.

    `forgotten`: public posts that `indexer forget` took out for good; they are no drift.
    """

    checked: int
    kinds: dict[str, int] = field(default_factory=dict)
    repaired: bool = True
    forgotten: int = 0
    replies_to_correct: int = 0

    @property
    def total(self) -> int:
        return sum(self.kinds.values())


def reconcile(
    source: PostSource,
    ingest: Ingest,
    database: Database,
    *,
    ask: Asked | None = None,
    repair: bool = True,
    force: bool = False,
    on_progress: Callable[[int, float], None] = lambda seen, seconds: None,
) -> Drift:
    """Read the whole forum and compare. `ask` is asked once more about each post that the crawl did not meet.

    Raises SourceError when the source does not tell the present (an archive), or when the forum seems to have lost
    more than a fifth of the index (unless `force`).
    """
    if not source.observes:
        raise SourceError(f"{source.name} tells what once was: reconcile against discourse or a database.")
    began = datetime.now(UTC)
    found: Counter[str] = Counter()
    removed: set[int] = set()
    admission, replies = _categories(source.categories(), ingest, found, removed, repair)
    moved_topics = _topics(source.topics(), ingest, admission, found, repair=repair)
    met: set[int] = set()
    altered: set[int] = set()
    for batch in _batched(one for one, _ in source.posts()):
        now = datetime.now(UTC)
        met.update(one.post.id for one in batch)
        removed |= _classify(batch, ingest, admission, found, removed, altered)
        if repair:
            ingest.ingest(batch, observed_at=now, complete_topics=source.complete_topics)
        on_progress(len(met), (now - began).total_seconds())
    indexed = ingest.store.texts_seen_before(began)
    unmet = [post_id for post_id in indexed if post_id not in met and post_id not in removed]
    if len(unmet) > max(_ALWAYS_ALLOWED, MOST_GONE * len(indexed)) and not force:
        raise SourceError(
            f"The forum did not tell of {len(unmet)} of {len(indexed)} indexed posts: more than a fifth. None of them"
            " was removed. Check the forum and the API key's rights; if it is right, run reconcile with --force."
        )
    removed |= _unmet(unmet, ingest, ask, found, repair=repair)
    if repair:
        ingest.refresh()
        ingest.fill()
        replies |= withdraw(database, removed) | look_again(database, posts=altered, topics=moved_topics)
    return Drift(
        checked=len(met),
        kinds={kind: found[kind] for kind in KINDS},
        repaired=repair,
        forgotten=found[_FORGOTTEN],
        replies_to_correct=len(replies),
    )


def _categories(
    told: Sequence[Category], ingest: Ingest, found: Counter[str], removed: set[int], repair: bool
) -> tuple[Admission, frozenset[int]]:
    """Count and mend what is closed now; returns who may come in, and the asks whose replies are looked at again."""
    admission = ingest.admission()
    admission = replace(admission, categories={**admission.categories, **{one.id: one for one in told}})
    closed = [one.id for one in told if one.read_restricted and one.id not in admission.opened]
    leaving = ingest.store.texts_in_categories(closed)
    found["private"] += len(leaving)
    removed.update(leaving)
    described = ingest.put_categories(told, at=datetime.now(UTC)) if repair and told else Described()
    return admission, described.replies


def _topics(
    told: Iterable[Topic], ingest: Ingest, admission: Admission, found: Counter[str], *, repair: bool
) -> set[int]:
    """Count and mend the topics that differ; returns those that stand in another category now."""
    moved: set[int] = set()
    topics = iter(told)
    while chunk := list(islice(topics, _BATCH)):
        held = {one: row for one, row in ingest.store.topics(t.id for t in chunk).items() if not _is_forgotten(row[0])}
        # Of a topic that is not public the index keeps no title to compare.
        open_now = [one for one in chunk if one.id in held and admission.why_not_topic(one) is None]
        found["topic"] += sum(_face(one) != _face(held[one.id][0]) for one in open_now)
        moved |= {one.id for one in chunk if one.id in held and held[one.id][0].category_id != one.category_id}
        if repair:
            ingest.put_topics(chunk, at=datetime.now(UTC))
    return moved


def _face(topic: Topic) -> tuple[object, ...]:
    # An index from before tags were sorted holds them in the source's order: no difference to tell of.
    return topic.title, topic.slug, topic.category_id, sorted(topic.tags), topic.visible, topic.archetype


def _is_forgotten(topic: Topic) -> bool:
    return topic.deleted_at is not None and topic.deleted_at >= FOR_EVER


def _classify(
    batch: Sequence[SourcePost],
    ingest: Ingest,
    admission: Admission,
    found: Counter[str],
    counted: set[int],
    altered: set[int],
) -> set[int]:
    """Count the drift of posts that the forum told; returns those that will lose their text, and adds to `altered`
    those that are another text or stand elsewhere."""
    held = ingest.store.known([one.post.id for one in batch])
    topics = ingest.store.topics(one.topic.id for one in batch)
    forgotten = {topic_id for topic_id, (topic, _) in topics.items() if _is_forgotten(topic)}
    leaving = set()
    for one in batch:
        row = held.get(one.post.id)
        if admission.why_not(one) is not None:
            if row is not None and row.has_text and one.post.id not in counted:
                found["private" if admission.why_not_topic(one.topic) is not None else "gone"] += 1
                leaving.add(one.post.id)
        elif one.topic.id in forgotten or (row is not None and row.forgotten):
            found[_FORGOTTEN] += 1
        elif row is None or (not row.has_text and (row.source_hash is None or row.deleted or row.hidden)):
            found["missing"] += 1
        elif row.topic_id != one.topic.id:
            found["moved"] += 1
            altered.add(one.post.id)
        elif (row.updated_at, row.version) != (one.post.updated_at, one.post.version):
            found["stale"] += 1
            altered.add(one.post.id)
    return leaving


def _unmet(unmet: Sequence[int], ingest: Ingest, ask: Asked | None, found: Counter[str], *, repair: bool) -> set[int]:
    """Posts of the index that the forum did not tell of: asked about once more, then taken out."""
    removed = set()
    for post_id in unmet:
        now = datetime.now(UTC)
        told = _told(ask, post_id)
        found["gone" if told is None or told.post.hidden or told.post.deleted_at else "private"] += 1
        if not repair:
            continue
        removed.add(post_id)
        if told is None or ask is None:
            ingest.destroy_posts([post_id], at=now)
            continue
        try:
            ingest.put_topics([ask.topic(told.topic.id)], at=now)
        except RemoteRefused:
            ingest.destroy_topics([told.topic.id], at=now)
        ingest.ingest([told], observed_at=now)
        # What the key may see and the list of what everyone may read does not hold is not public.
        ingest.store.remove_texts([post_id], "not listed by the forum")
    return removed


def _told(ask: Asked | None, post_id: int) -> SourcePost | None:
    if ask is None:
        return None
    try:
        return ask.post(post_id)
    except RemoteRefused:
        return None


def _batched(posts: Iterable[SourcePost]) -> Iterator[list[SourcePost]]:
    stream = iter(posts)
    while batch := list(islice(stream, _BATCH)):
        yield batch
