"""Posts as told become rows to store: cleaned, composed, counted, or left outside with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from clients.postgres.store_rows import IndexedText, PostRow, TopicRow
from forum.compose import RULES, compose, content_digest, cut
from forum.public import PASSING, Admission
from forum.terms import terms, tsvector_literal
from forum.text import clean
from forum.topic_links import topic_links
from forum.types import SourcePost, Topic


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """Posts as they will be stored."""

    rows: list[PostRow]
    #: Composed texts that need a vector, by post id.
    texts: dict[int, str]
    composed: dict[int, tuple[str, str, tuple[str, ...]]]
    skipped: Counter[str]


def make_rows(
    posts: Sequence[SourcePost],
    digests: Mapping[int, bytes],
    topics: Mapping[int, Topic],
    observed_at: datetime | None,
    admission: Admission,
    *,
    max_tokens: int,
    host: str,
) -> Rows:
    """Clean and compose what may be stored; the rest gets its reason."""
    made = Rows(rows=[], texts={}, composed={}, skipped=Counter())
    for told in posts:
        post, topic = told.post, topics[told.topic.id]
        one = SourcePost(post=post, topic=topic)
        reason = admission.why_not(one)
        text = "" if reason else clean(post.cooked)
        if not reason and not text:
            reason = "nothing of its own"
        indexed = None
        if reason:
            made.skipped[reason] += 1
        else:
            category = admission.categories.get(topic.category_id or 0)
            head = (topic.title, category.name if category else "", topic.tags)
            composed = compose(title=head[0], category=head[1], tags=head[2], text=text)
            indexed = indexed_text(text, composed, max_tokens)
            made.composed[topic.id] = head
            made.texts[post.id] = composed
        made.rows.append(
            PostRow(
                source=one,
                indexed=indexed,
                source_hash=None if reason in PASSING else digests[post.id],
                seen_at=observed_at or post.updated_at,
                rules=RULES,
                skipped=reason,
                links=topic_links(post.cooked, post.topic_id, host) if indexed else frozenset(),
            )
        )
    return made


def merged_topics(
    told: Iterable[TopicRow], known: Mapping[int, tuple[Topic, datetime]], *, complete: bool
) -> dict[int, Topic]:
    """Each topic as it will stand after the batch: the newest told, completed by what is known."""
    merged = {}
    for row in told:
        topic_id, at, topic = row.topic.id, row.seen_at, row.topic
        held = known.get(topic_id)
        if held is None:
            merged[topic_id] = topic
        elif at < held[1]:
            merged[topic_id] = held[0]
        elif complete:
            merged[topic_id] = topic
        else:
            merged[topic_id] = replace(
                topic,
                title=topic.title or held[0].title,
                tags=topic.tags or held[0].tags,
                visible=held[0].visible,
                deleted_at=held[0].deleted_at,
            )
    return merged


def indexed_text(text: str, composed: str, max_tokens: int) -> IndexedText:
    """The text with the terms of what is composed of it; `truncated` where the model or Postgres takes only a part."""
    vector, length, dropped = tsvector_literal(terms(composed))
    return IndexedText(
        text=text,
        content_hash=content_digest(composed),
        terms=vector,
        doc_length=length,
        truncated=dropped or len(cut(composed, max_tokens)) < len(composed),
    )


def topic_rows(posts: Iterable[SourcePost], observed_at: datetime | None) -> list[TopicRow]:
    """The newest that the posts tell of each of their topics."""
    newest: dict[int, TopicRow] = {}
    for one in posts:
        at = observed_at or one.post.updated_at
        if one.topic.id not in newest or at >= newest[one.topic.id].seen_at:
            newest[one.topic.id] = topic_row(one.topic, at)
    return list(newest.values())


def topic_row(topic: Topic, at: datetime) -> TopicRow:
    """The title of a private message or an unlisted topic never reaches the database."""
    if topic.archetype != "regular" or not topic.visible or topic.deleted_at is not None:
        topic = replace(topic, title="", slug="", tags=())
    return TopicRow(topic=topic, seen_at=at)
