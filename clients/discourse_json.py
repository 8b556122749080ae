"""Reads Discourse's JSON into our types: every key but the ids may be absent or of the wrong kind."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from forum.types import Category, Post, SourcePost, Topic
from forum.unicode_safety import encodable

#: Postgres's bigint and integer.
_LARGEST_ID = 2**63 - 1
_LARGEST_COUNT = 2**31 - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_post(data: Mapping[str, Any]) -> Post:
    """A post from its JSON (webhook, API or archive). Raises ValueError without a usable id, topic_id, post_number.

    A post without dates counts as written at the epoch, so that any other form of it is newer.
    """
    created = instant(data.get("created_at")) or _EPOCH
    version = integer(data.get("version"), _LARGEST_COUNT)
    return Post(
        id=_required(data, "id"),
        topic_id=_required(data, "topic_id"),
        post_number=_required(data, "post_number", _LARGEST_COUNT),
        cooked=text(data.get("cooked")),
        raw=text(data["raw"]) if isinstance(data.get("raw"), str) else None,
        created_at=created,
        updated_at=instant(data.get("updated_at")) or created,
        user_id=integer(data.get("user_id"), _LARGEST_ID),
        username=text(data.get("username")),
        version=version if version and version > 0 else 1,
        post_type=integer(data.get("post_type"), 32_767) or 1,
        reply_to_post_number=integer(data.get("reply_to_post_number"), _LARGEST_COUNT),
        hidden=data.get("hidden") is True,
        deleted_at=instant(data.get("deleted_at")),
        user_deleted=data.get("user_deleted") is True,
        like_count=_likes(data),
        staff=data.get("staff") is True or data.get("admin") is True or data.get("moderator") is True,
        trust_level=integer(data.get("trust_level"), 100),
        accepted_answer=data["accepted_answer"] if isinstance(data.get("accepted_answer"), bool) else None,
    )


def read_topic(data: Mapping[str, Any]) -> Topic:
    """A topic from its JSON. Raises ValueError without a usable id."""
    visible = data.get("visible")
    return Topic(
        id=_required(data, "id"),
        title=text(data.get("title")),
        slug=text(data.get("slug")),
        category_id=integer(data.get("category_id"), _LARGEST_COUNT),
        tags=_tags(data.get("tags")),
        archetype=text(data.get("archetype")) or "regular",
        visible=visible if isinstance(visible, bool) else True,
        closed=data.get("closed") is True,
        archived=data.get("archived") is True,
        created_at=instant(data.get("created_at")),
        deleted_at=instant(data.get("deleted_at")),
        posts_count=integer(data.get("posts_count"), _LARGEST_COUNT),
        like_count=integer(data.get("like_count"), _LARGEST_COUNT),
        views=integer(data.get("views"), _LARGEST_COUNT),
        accepted_post_id=None,
    )


def read_source_post(data: Mapping[str, Any], topic: Topic | None = None) -> SourcePost:
    """A post with the topic that its own JSON tells of (`topic_title`, `topic_archetype`, ...), or with `topic`."""
    post = read_post(data)
    if topic is None:
        topic = Topic(
            id=post.topic_id,
            title=text(data.get("topic_title")),
            slug=text(data.get("topic_slug")),
            category_id=integer(data.get("category_id"), _LARGEST_COUNT),
            archetype=text(data.get("topic_archetype")) or "regular",
            posts_count=integer(data.get("topic_posts_count"), _LARGEST_COUNT),
        )
    return SourcePost(post=post, topic=topic)


def write_source_post(found: SourcePost) -> dict[str, Any]:
    """The JSON that `read_source_post` reads back, as a webhook would have told it."""
    post, topic = found.post, found.topic
    return {
        "id": post.id,
        "topic_id": post.topic_id,
        "post_number": post.post_number,
        "cooked": post.cooked,
        "created_at": post.created_at.isoformat(),
        "updated_at": post.updated_at.isoformat(),
        "user_id": post.user_id,
        "username": post.username,
        "version": post.version,
        "post_type": post.post_type,
        "reply_to_post_number": post.reply_to_post_number,
        "hidden": post.hidden,
        "deleted_at": post.deleted_at.isoformat() if post.deleted_at else None,
        "user_deleted": post.user_deleted,
        "like_count": post.like_count,
        "staff": post.staff,
        "trust_level": post.trust_level,
        "accepted_answer": post.accepted_answer,
        "topic_title": topic.title,
        "topic_slug": topic.slug,
        "category_id": topic.category_id,
        "topic_archetype": topic.archetype,
    }


def read_category(data: Mapping[str, Any]) -> Category:
    """A category from `/site.json`; `read_restricted` counts as true where it is not said."""
    return Category(
        id=_required(data, "id", _LARGEST_COUNT),
        name=text(data.get("name")),
        slug=text(data.get("slug")),
        parent_id=integer(data.get("parent_category_id"), _LARGEST_COUNT),
        read_restricted=data.get("read_restricted") is not False,
    )


def text(value: object) -> str:
    """The value if it is text, storable; else ""."""
    return encodable(value) if isinstance(value, str) else ""


def integer(value: object, largest: int = _LARGEST_ID) -> int | None:
    """The value if it is a whole number within plus or minus `largest`, else None."""
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > largest:
        return None
    return value


def instant(value: object) -> datetime | None:
    """An ISO 8601 time with its zone (UTC where none is given), else None."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        parsed = datetime.fromisoformat(value)
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _required(data: Mapping[str, Any], key: str, largest: int = _LARGEST_ID) -> int:
    value = integer(data.get(key), largest)
    if value is None:
        raise ValueError(f"{key} is missing or no whole number")
    return value


def _tags(value: object) -> tuple[str, ...]:
    # Names until 2026, objects {id, name} since. Sorted: each source tells them in an order of its own, and they stand
    # in what is embedded.
    if not isinstance(value, list):
        return ()
    names = (item.get("name") if isinstance(item, dict) else item for item in value)
    return tuple(sorted(encodable(name) for name in names if isinstance(name, str) and name))


def _likes(data: Mapping[str, Any]) -> int:
    if (count := integer(data.get("like_count"), _LARGEST_COUNT)) is not None:
        return max(count, 0)
    actions = data.get("actions_summary")
    for action in actions if isinstance(actions, list) else ():
        if isinstance(action, dict) and action.get("id") == 2:
            return max(integer(action.get("count"), _LARGEST_COUNT) or 0, 0)
    return 0
