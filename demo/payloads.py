"""The bodies of Discourse's webhooks, key for key as real deliveries have them.

Like Discourse's, they are made with the system user's rights: private messages, whispers, hidden posts and closed
categories are all in them, and nothing says that a category is closed. Callers hold the store's lock.
"""

from __future__ import annotations

from typing import Any

from demo.forum_state import ForumState
from demo.records import Category, Notification, Post, Topic, User
from demo.serialize import Shapes
from demo.store import Event

Json = dict[str, Any]


def payload(forum: ForumState, event: Event) -> Json:
    """{event type: body} of one event."""
    shapes, record = Shapes(forum, forum.store.users.get(-1)), event.record
    body: Json
    if isinstance(record, Post):
        body = _post(shapes, record)
        if event.user is not None:
            body = {"post": body, "user": shapes.brief_user(event.user)}
    elif isinstance(record, Topic):
        body = _topic(shapes, record)
    elif isinstance(record, Category):
        body = shapes.category(record)
    elif isinstance(record, Notification):
        body = shapes.notification(record)
    else:
        raise TypeError(f"no webhook tells of {record.TABLE}")
    return {event.type: body}


_POST_KEYS = (
    ("id", "name", "username", "avatar_template", "created_at", "cooked", "post_number", "post_type")
    + ("posts_count", "updated_at", "reply_count", "reply_to_post_number", "quote_count", "incoming_link_count")
    + ("reads", "score", "topic_id", "topic_slug")
)
_POST_END_KEYS = (
    ("display_username", "primary_group_name", "flair_name", "flair_group_id", "version", "user_title")
    + ("bookmarked", "raw", "moderator", "admin", "staff", "user_id", "hidden", "trust_level", "deleted_at")
    + ("user_deleted", "edit_reason", "wiki", "reviewable_id", "reviewable_score_count")
    + ("reviewable_score_pending_count", "post_url")
)


def _post(shapes: Shapes, post: Post) -> Json:
    store, shape = shapes.store, shapes.post(post, raw=True)
    topic = store.topics[post.topic_id]
    category = store.category_of(topic)
    body = {key: shape[key] for key in _POST_KEYS}
    body |= {"topic_title": topic.title, "category_id": topic.category_id}
    body |= {key: shape[key] for key in _POST_END_KEYS}
    body |= {key: shape[key] for key in ("hidden_reason_id", "accepted_answer") if key in shape}
    parent = shape.get("reply_to_user")
    if parent:
        body["reply_to_user"] = {key: parent[key] for key in ("username", "name", "avatar_template")}
    count = shape["posts_count"]
    body |= {"topic_posts_count": count, "topic_filtered_posts_count": count, "topic_archetype": topic.archetype}
    if category is not None:
        body["category_slug"] = category.slug
    return body


_TOPIC_KEYS = (
    ("id", "title", "fancy_title", "posts_count", "created_at", "views", "reply_count", "like_count")
    + ("last_posted_at", "visible", "closed", "archived", "archetype", "slug", "category_id", "pinned")
    + ("pinned_globally", "unpinned", "featured_link", "highest_post_number", "bookmarked")
)


def _topic(shapes: Shapes, topic: Topic) -> Json:
    row, posts = shapes.topic_row(topic), shapes.visible_posts(topic)
    deleter = shapes.store.users.get(topic.deleted_by or 0)
    last = posts[-1].user_id if posts else topic.user_id
    return {
        **{key: row[key] for key in _TOPIC_KEYS},
        "tags": list(topic.tags),
        "tags_descriptions": {},
        "word_count": sum(len(p.raw.split()) for p in posts),
        "deleted_at": topic.deleted_at,
        "deleted_by": _person(shapes, deleter) if topic.deleted_at and deleter else None,
        "has_deleted": any(p.deleted_at for p in posts),
        "user_id": topic.user_id,
        "pinned_at": None,
        "pinned_until": None,
        "participant_count": len({p.user_id for p in posts}),
        "thumbnails": None,
        "valid_reactions": ["heart"],
        "created_by": _person(shapes, shapes.user(topic.user_id)),
        "last_poster": _person(shapes, shapes.user(last)),
    }


def _person(shapes: Shapes, user: User) -> Json:
    return shapes.brief_user(user)
