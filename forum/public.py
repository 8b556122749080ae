"""Why a post may not enter the index: the public predicate of sql/migrations/0001, told as a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from forum.types import Category, SourcePost, Topic
from forum.username import folded

_REGULAR, _WHISPER = 1, 4

#: Reasons that lie in the topic or category, not in the post: when they pass, the post is to be read again.
PASSING = frozenset(
    {
        "topic deleted",
        "private message",
        "not a regular topic",
        "unlisted topic",
        "category not described",
        "restricted category",
        "category not chosen",
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Admission:
    """What the operator lets in, beside what is public."""

    categories: Mapping[int, Category] = field(default_factory=dict)
    #: Restricted categories that the operator opened.
    opened: frozenset[int] = frozenset()
    #: The categories that are indexed, children included where the config says so; None: all.
    chosen: frozenset[int] | None = None
    #: Its own accounts' posts are no evidence.
    bot_usernames: tuple[str, ...] = ()

    def why_not(self, source: SourcePost) -> str | None:
        """The reason to leave a post out, or None when its text may be stored."""
        post = source.post
        if post.deleted_at is not None:
            return "deleted"
        if post.user_deleted:
            return "deleted by its author"
        if post.hidden:
            return "hidden"
        if post.post_type != _REGULAR:
            return "whisper" if post.post_type == _WHISPER else "not a regular post"
        if post.user_id is None:
            return "by a deleted user"
        if folded(post.username) in map(folded, self.bot_usernames):
            return "by the bot"
        return self.why_not_topic(source.topic)

    def why_not_topic(self, topic: Topic) -> str | None:
        """The reason to leave a whole topic out, its title too."""
        if topic.deleted_at is not None:
            return "topic deleted"
        if topic.archetype != "regular":
            return "private message" if topic.archetype == "private_message" else "not a regular topic"
        if not topic.visible:
            return "unlisted topic"
        if topic.category_id is None:
            return None if self.chosen is None else "category not chosen"
        category = self.categories.get(topic.category_id)
        if category is None:
            return "category not described"
        if category.read_restricted and topic.category_id not in self.opened:
            return "restricted category"
        if self.chosen is not None and topic.category_id not in self.chosen:
            return "category not chosen"
        return None


def with_children(ids: frozenset[int], categories: Mapping[int, Category]) -> frozenset[int]:
    """The categories and all below them."""
    found = set(ids)
    while True:
        below = {one.id for one in categories.values() if one.parent_id in found} - found
        if not below:
            return frozenset(found)
        found |= below
