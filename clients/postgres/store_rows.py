"""Rows as the writing side copies them into Postgres: plain values, in the order of the staging tables' columns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from forum.ports import Vectors
from forum.types import Post, SourcePost, Topic

POST_TYPES = (
    "int8 int8 int4 int8 text bool int2 int4 timestamptz timestamptz int4 bool timestamptz bool int4"
    " bool text text bytea bytea text int4 bool int2 timestamptz"
).split()
TOPIC_TYPES = (
    "int8 text text int4 text[] text bool bool bool timestamptz timestamptz int8 int4 int4 timestamptz"
).split()
VECTOR_TYPES = "int8 bytea halfvec text int4".split()
LINK_TYPES = "int8 int8 int8 timestamptz".split()


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexedText:
    """What a public post is searched by."""

    text: str
    content_hash: bytes
    #: Postgres's text form of the tsvector.
    terms: str
    doc_length: int
    truncated: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class PostRow:
    """A post as it is stored; without `indexed` its text stays outside."""

    source: SourcePost
    indexed: IndexedText | None
    #: None: read it again when its topic is public.
    source_hash: bytes | None
    seen_at: datetime
    rules: int
    #: Why its text stays outside.
    skipped: str | None = None
    links: frozenset[int] = frozenset()

    def values(self) -> tuple[object, ...]:
        post, text = self.source.post, self.indexed
        return (
            *_identity(post, public=text is not None),
            post.like_count,
            post.accepted_answer,
            text.text if text else None,
            self.skipped,
            self.source_hash,
            text.content_hash if text else None,
            text.terms if text else None,
            text.doc_length if text else 0,
            text.truncated if text else False,
            self.rules,
            self.seen_at,
        )


def _identity(post: Post, *, public: bool) -> tuple[object, ...]:
    return (
        post.id,
        post.topic_id,
        post.post_number,
        post.user_id if public else None,
        post.username if public else "",
        post.staff,
        post.post_type,
        post.reply_to_post_number,
        post.created_at,
        post.updated_at,
        post.version,
        post.hidden,
        post.deleted_at,
        post.user_deleted,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class TopicRow:
    """A topic and the moment at which it was so."""

    topic: Topic
    seen_at: datetime

    def values(self) -> tuple[object, ...]:
        topic = self.topic
        return (
            topic.id,
            topic.title,
            topic.slug,
            topic.category_id,
            list(topic.tags),
            topic.archetype,
            topic.visible,
            topic.closed,
            topic.archived,
            topic.created_at,
            topic.deleted_at,
            topic.accepted_post_id,
            topic.views,
            topic.like_count,
            self.seen_at,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class VectorRow:
    """A text's vector of length 1, or why it has none."""

    post_id: int
    content_hash: bytes
    vector: Vectors | None
    reason: str = ""
    tries: int = 0
