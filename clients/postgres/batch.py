"""What is written together, and what writing it changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from clients.postgres.store_rows import PostRow, TopicRow, VectorRow


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """Rows to write together. `composed` is what the texts say of their topics: (title, category, tags)."""

    posts: Sequence[PostRow] = ()
    topics: Sequence[TopicRow] = ()
    #: True when the topics come from a source that tells all of a topic, not from a post's own JSON.
    complete_topics: bool = False
    composed: Mapping[int, tuple[str, str, tuple[str, ...]]] = field(default_factory=dict)
    vectors: Sequence[VectorRow] = ()
    model_id: int | None = None
    declared_public: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """What a batch changed: ids of posts whose row changed, of those with text, and of topics closed to the public."""

    changed: frozenset[int] = frozenset()
    stored: frozenset[int] = frozenset()
    closed_topics: frozenset[int] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class Described:
    """What describing categories changed: ids of posts that lost their text, and of categories with other readers."""

    gone: frozenset[int] = frozenset()
    other_readers: frozenset[int] = frozenset()
    #: The asking posts whose replies are looked at again for it.
    replies: frozenset[int] = frozenset()
