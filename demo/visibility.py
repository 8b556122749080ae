"""Who may see what on the practice forum, as Discourse's guardian decides it. Pure.

`viewer` is None for somebody who is not logged in.
"""

from __future__ import annotations

from demo.records import REGULAR, WHISPER, Category, Post, Topic, User


def group_names(user: User | None) -> frozenset[str]:
    """The groups of a reader, automatic ones too."""
    if user is None:
        return frozenset({"everyone"})
    names = {"everyone", *user.groups, *(f"trust_level_{n}" for n in range(user.trust_level + 1))}
    if user.staff:
        names |= {"staff", *(["admins"] if user.admin else []), *(["moderators"] if user.moderator else [])}
    return frozenset(names)


def can_see_category(viewer: User | None, category: Category) -> bool:
    if not category.read_restricted or (viewer is not None and viewer.admin):
        return True
    return bool(group_names(viewer) & set(category.groups))


def can_see_topic(viewer: User | None, topic: Topic, category: Category | None) -> bool:
    if topic.deleted_at is not None and not (viewer and viewer.staff):
        return False
    if topic.private:
        return viewer is not None and (viewer.admin or viewer.id in topic.participants)
    return category is not None and can_see_category(viewer, category)


def can_see_post(viewer: User | None, post: Post, topic: Topic, category: Category | None) -> bool:
    """Whether the post is there for the reader at all; its text may still be hidden (`can_see_text`)."""
    if not can_see_topic(viewer, topic, category):
        return False
    if post.deleted_at is not None or post.post_type == WHISPER:
        return viewer is not None and viewer.staff
    return True


def can_see_text(viewer: User | None, post: Post) -> bool:
    """A post hidden by flags shows its text to staff and to its author only."""
    return not post.hidden or (viewer is not None and (viewer.staff or viewer.id == post.user_id))


def is_public(post: Post, topic: Topic, category: Category | None) -> bool:
    """What everybody may read and search: the predicate of Discourse's own post crawl."""
    return (
        can_see_post(None, post, topic, category)
        and post.post_type == REGULAR
        and not post.hidden
        and not post.user_deleted
        and topic.visible
    )
