"""The forum's rows as Discourse's JSON, key for key.

The key sets are those of Discourse's API description; `accepted_answer` and `reply_to_user` are what the solved
plugin and replies add. It is one file because the shapes share their parts. Callers hold the store's lock.
"""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from demo.content import AUTOMATIC
from demo.forum_state import ForumState
from demo.records import REGULAR, Category, Notification, Post, Topic, User
from demo.visibility import can_see_category, can_see_post, can_see_text, group_names

Json = dict[str, Any]
HIDDEN_TEXT = "<p>This post was flagged by the community and is temporarily hidden.</p>"
_GONE = User(id=0, username="deleted", deleted=True)


class Shapes:
    """Serialisers for one reader (`viewer`, None when anonymous)."""

    def __init__(self, forum: ForumState, viewer: User | None) -> None:
        self.forum, self.store, self.viewer = forum, forum.store, viewer

    # -- people

    def user(self, user_id: int) -> User:
        return self.store.users.get(user_id, _GONE)

    def brief_user(self, user: User) -> Json:
        return {
            "id": user.id,
            "username": user.username,
            "name": user.name or "",
            "avatar_template": avatar(user.username),
        }

    # -- posts

    def post(self, post: Post, *, raw: bool = False) -> Json:
        """The part that every kind of post JSON has."""
        user, topic = self.user(post.user_id), self.store.topics[post.topic_id]
        viewer, mine = self.viewer, bool(self.viewer and self.viewer.id == post.user_id)
        staff, seen = bool(viewer and viewer.staff), can_see_text(viewer, post)
        siblings = [p for p in self.store.posts_of(topic.id) if not p.deleted_at]
        shape: Json = {
            "id": post.id,
            "name": user.name or "",
            "username": user.username,
            "avatar_template": avatar(user.username),
            "created_at": post.created_at,
            "cooked": post.cooked if seen else HIDDEN_TEXT,
            "post_number": post.post_number,
            "post_type": post.post_type,
            "posts_count": len(siblings),
            "updated_at": post.updated_at,
            "reply_count": sum(p.reply_to == post.post_number for p in siblings),
            "reply_to_post_number": post.reply_to,
            "quote_count": 0,
            "incoming_link_count": 0,
            "reads": 1 + len(siblings),
            "readers_count": len(siblings),
            "score": round(0.2 * len(siblings) + 15.0 * post.like_count, 1),
            "yours": mine,
            "topic_id": topic.id,
            "topic_slug": topic.slug,
            "display_username": user.name or "",
            "primary_group_name": None,
            "flair_name": None,
            "flair_url": None,
            "flair_bg_color": None,
            "flair_color": None,
            "flair_group_id": None,
            "badges_granted": [],
            "version": post.version,
            "can_edit": staff or mine,
            "can_delete": staff or mine,
            "can_recover": staff and bool(post.deleted_at),
            "can_see_hidden_post": staff or mine,
            "can_wiki": staff,
            "user_title": None,
            "bookmarked": False,
            "actions_summary": self._actions(post),
            "moderator": user.moderator,
            "admin": user.admin,
            "staff": user.staff,
            "user_id": user.id,
            "hidden": post.hidden,
            "trust_level": user.trust_level,
            "deleted_at": post.deleted_at,
            "user_deleted": post.user_deleted,
            "edit_reason": post.edit_reason,
            "can_view_edit_history": True,
            "wiki": False,
            "reviewable_id": None,
            "reviewable_score_count": 0,
            "reviewable_score_pending_count": 0,
            "post_url": f"/t/{topic.slug}/{topic.id}/{post.post_number}",
        }
        if post.hidden:
            shape["hidden_reason_id"] = 1
        if raw and seen:
            shape["raw"] = post.raw
        if post.reply_to:
            parent = self.store.post_numbered(topic.id, post.reply_to)
            if parent:
                shape["reply_to_user"] = self.brief_user(self.user(parent.user_id))
        if topic.accepted_post_id:
            shape["accepted_answer"] = topic.accepted_post_id == post.id
            shape["topic_accepted_answer"] = True
        return shape

    def _actions(self, post: Post) -> list[Json]:
        likes: list[Json] = [{"id": 2, "count": post.like_count}] if post.like_count else []
        if self.viewer and self.viewer.id in post.liked_by:
            likes[0] |= {"acted": True, "can_undo": True}
        if self.viewer and self.viewer.id != post.user_id:
            likes = [{**(likes[0] if likes else {"id": 2}), "can_act": self.viewer.id not in post.liked_by}]
            likes += [{"id": kind, "can_act": True} for kind in (3, 4, 8, 7)]
        return [{"can_act": False, **action} for action in likes]

    def created(self, post: Post) -> Json:
        """What POST /posts.json answers."""
        return {**self.post(post, raw=True), "draft_sequence": 0, "mentioned_users": [], "post_localizations": []}

    def updated(self, post: Post) -> Json:
        return {"post": self.created(post)}

    def latest_post(self, post: Post) -> Json:
        """A row of GET /posts.json."""
        topic, text = self.store.topics[post.topic_id], plain(post.cooked)
        return {
            **self.post(post, raw=True),
            "topic_title": topic.title,
            "topic_html_title": escape(topic.title),
            "category_id": topic.category_id,
            "excerpt": text[:300],
            "truncated": len(text) > 300,
        }

    def reply(self, post: Post) -> Json:
        """A row of GET /posts/{id}/replies.json."""
        return self.post(post)

    def stream_post(self, post: Post, *, raw: bool) -> Json:
        """A post inside a topic; the newer keys are not part of that shape."""
        shape = self.post(post, raw=raw)
        for key in ("posts_count", "flair_group_id", "badges_granted", "post_url"):
            del shape[key]
        return {**shape, "link_counts": [], "read": True, "reviewable_id": 0}

    # -- topics

    def visible_posts(self, topic: Topic) -> list[Post]:
        """The posts of a topic that the reader's stream has: deleted ones only for staff."""
        category = self.store.category_of(topic)
        return [p for p in self.store.posts_of(topic.id) if can_see_post(self.viewer, p, topic, category)]

    def topic_row(self, topic: Topic) -> Json:
        """A topic in a list."""
        posts = [p for p in self.visible_posts(topic) if not p.deleted_at]
        last = posts[-1] if posts else None
        return {
            "id": topic.id,
            "title": topic.title,
            "fancy_title": escape(topic.title),
            "slug": topic.slug,
            "posts_count": len(posts),
            "reply_count": sum(p.reply_to is not None for p in posts),
            "highest_post_number": self.store.last_number(topic.id),
            "image_url": None,
            "created_at": topic.created_at,
            "last_posted_at": last.created_at if last else None,
            "bumped": True,
            "bumped_at": topic.bumped_at,
            "archetype": topic.archetype,
            "unseen": False,
            "pinned": False,
            "unpinned": None,
            "visible": topic.visible,
            "closed": topic.closed,
            "archived": topic.archived,
            "bookmarked": None,
            "liked": None,
            "tags": self.tags(topic),
            "tags_descriptions": {},
            "views": topic.views,
            "like_count": sum(p.like_count for p in posts),
            "has_summary": False,
            "last_poster_username": self.user(last.user_id).username if last else None,
            "category_id": topic.category_id,
            "op_like_count": posts[0].like_count if posts else 0,
            "pinned_globally": False,
            "featured_link": None,
            "has_accepted_answer": topic.accepted_post_id is not None,
            "posters": self._posters(topic, posts),
        }

    def _posters(self, topic: Topic, posts: list[Post]) -> list[Json]:
        return [
            {
                "extras": "latest" if posts and n == posts[-1].user_id else None,
                "description": "Original Poster" if n == topic.user_id else "Frequent Poster",
                "user_id": n,
                "primary_group_id": None,
            }
            for n in dict.fromkeys([topic.user_id, *(p.user_id for p in posts)])
        ][:5]

    def tags(self, topic: Topic) -> list[Json]:
        names = sorted({tag for t in self.store.topics.values() for tag in t.tags})
        return [{"id": names.index(tag) + 1, "name": tag, "slug": tag} for tag in topic.tags]

    def topic_list(self, topics: list[Topic], more: str | None = None, per_page: int = 30) -> Json:
        rows = [self.topic_row(t) for t in topics]
        people = dict.fromkeys(p["user_id"] for row in rows for p in row["posters"])
        listing: Json = {
            "can_create_topic": self.viewer is not None,
            "per_page": per_page,
            "top_tags": [],
            "topics": rows,
        }
        if more:
            listing["more_topics_url"] = more
        return {
            "users": [self.brief_user(self.user(n)) for n in people],
            "primary_groups": [],
            "topic_list": listing,
        }

    def topic(self, topic: Topic, *, posts: list[Post], raw: bool, current: int | None = None) -> Json:
        """GET /t/{id}.json with these posts of its stream."""
        stream = self.visible_posts(topic)
        row, staff = self.topic_row(topic), bool(self.viewer and self.viewer.staff)
        accepted = self.store.posts.get(topic.accepted_post_id or 0)
        shape: Json = {
            "post_stream": {
                "posts": [self.stream_post(p, raw=raw) for p in posts],
                "stream": [p.id for p in stream],
            },
            "timeline_lookup": [[1, 0]],
            "suggested_topics": [],
            **{k: row[k] for k in _TOPIC_FROM_ROW},
            "word_count": sum(len(p.raw.split()) for p in stream if not p.hidden),
            "deleted_at": topic.deleted_at,
            "user_id": topic.user_id,
            "pinned_at": None,
            "pinned_until": None,
            "slow_mode_seconds": 0,
            "draft": None,
            "draft_key": f"topic_{topic.id}",
            "draft_sequence": 0,
            "deleted_by": None,
            "has_deleted": staff and any(p.deleted_at for p in stream),
            "actions_summary": [{"id": n, "count": 0, "hidden": False, "can_act": staff} for n in (4, 8, 7)],
            "chunk_size": 20,
            "bookmarked": False,
            "bookmarks": [],
            "topic_timer": None,
            "message_bus_last_id": 0,
            "participant_count": len({p.user_id for p in stream}),
            "show_read_indicator": False,
            "thumbnails": None,
            "slow_mode_enabled_until": None,
            "details": self._details(topic, stream, staff),
        }
        if current is not None:
            shape["current_post_number"] = current
        if accepted and accepted in stream and not accepted.deleted_at:
            shape["accepted_answer"] = {
                "post_number": accepted.post_number,
                "username": self.user(accepted.user_id).username,
                "excerpt": plain(accepted.cooked)[:300],
            }
        return shape

    def _details(self, topic: Topic, stream: list[Post], staff: bool) -> Json:
        counts = Counter(p.user_id for p in stream)
        participants = [
            {
                **self.brief_user(user),
                "post_count": count,
                "primary_group_name": None,
                "flair_name": None,
                "flair_url": None,
                "flair_color": None,
                "flair_bg_color": None,
                "flair_group_id": None,
                "admin": user.admin,
                "moderator": user.moderator,
                "trust_level": user.trust_level,
            }
            for user, count in ((self.user(n), count) for n, count in counts.most_common(24))
        ]
        last = stream[-1].user_id if stream else topic.user_id
        return {
            "can_edit": staff,
            "notification_level": 1,
            **{f"can_{right}": staff for right in _TOPIC_RIGHTS},
            "can_create_post": self.viewer is not None and (staff or not (topic.closed or topic.archived)),
            "can_reply_as_new_topic": self.viewer is not None,
            "can_flag_topic": self.viewer is not None,
            "can_remove_self_id": self.viewer.id if self.viewer else 0,
            "participants": participants,
            "created_by": self.brief_user(self.user(topic.user_id)),
            "last_poster": self.brief_user(self.user(last)),
            **(
                {
                    "allowed_users": [self.brief_user(self.user(n)) for n in topic.participants],
                    "allowed_groups": [],
                }
                if topic.private
                else {}
            ),
        }

    # -- categories and the site

    def categories(self) -> list[Category]:
        return [c for c in self.store.categories.values() if can_see_category(self.viewer, c)]

    def category(self, category: Category) -> Json:
        """The part that every kind of category JSON has."""
        topics = [t for t in self.store.topics.values() if t.category_id == category.id and not t.deleted_at]
        children = [c.id for c in self.categories() if c.parent_id == category.id]
        may_write = self.viewer is not None
        shape: Json = {
            "id": category.id,
            "name": category.name,
            "color": category.color,
            "text_color": "FFFFFF",
            "style_type": "square",
            "emoji": None,
            "icon": None,
            "slug": category.slug,
            "topic_count": len(topics),
            "post_count": sum(not p.deleted_at for t in topics for p in self.store.posts_of(t.id)),
            "position": list(self.store.categories).index(category.id),
            "description": category.description,
            "description_text": category.description,
            "description_excerpt": category.description,
            "topic_url": f"/t/about-{category.slug}",
            "read_restricted": category.read_restricted,
            "permission": 1 if may_write else 3,
            "notification_level": 1,
            "topic_template": None,
            "topic_title_placeholder": None,
            "has_children": bool(children),
            "subcategory_count": len(children) or None,
            **_CATEGORY_CONSTANTS,
        }
        if category.parent_id is not None:
            shape["parent_category_id"] = category.parent_id
        return shape

    def category_row(self, category: Category, *, children: bool) -> Json:
        """A row of GET /categories.json."""
        count = sum(t.category_id == category.id and t.visible for t in self.store.topics.values())
        below = [c for c in self.categories() if c.parent_id == category.id]
        shape = self.category(category)
        shape.pop("parent_category_id", None)
        return {
            **shape,
            "can_edit": False,
            **{f"topics_{span}": count for span in ("day", "week", "month", "year", "all_time")},
            "subcategory_ids": [c.id for c in below],
            "subcategory_list": [self.category_row(c, children=False) for c in below] if children else None,
        }

    def category_site(self, category: Category) -> Json:
        shape = {**self.category(category), "allow_global_tags": True, "required_tag_groups": []}
        return {
            **shape,
            "read_only_banner": None,
            "can_edit": False,
            "custom_fields": None,
            "form_template_ids": [],
        }

    def category_detail(self, category: Category) -> Json:
        """GET /c/{id}/show.json."""
        names = category.groups if category.read_restricted else ("everyone",)
        ids = {g.name: g.id for g in self.store.groups.values()} | {name: n for n, name in AUTOMATIC.items()}
        shape = self.category(category)
        shape.pop("parent_category_id", None)
        return {
            **shape,
            "can_edit": False,
            "form_template_ids": [],
            "custom_fields": {},
            "required_tag_groups": [],
            "read_only_banner": None,
            "available_groups": [],
            "auto_close_hours": None,
            "auto_close_based_on_last_post": False,
            "allow_unlimited_owner_edits_on_first_post": False,
            "default_slow_mode_seconds": None,
            "group_permissions": [
                {"permission_type": 1, "group_name": name, "group_id": ids.get(name, 0)} for name in names
            ],
            "email_in": None,
            "email_in_allow_strangers": False,
            "mailinglist_mirror": False,
            "all_topics_wiki": False,
            "can_delete": False,
            "allow_badges": True,
            "topic_featured_link_allowed": True,
            "search_priority": 0,
            "topic_posting_review_group_ids": [],
            "reply_posting_review_group_ids": [],
        }

    # -- the reader's own

    def notification(self, notice: Notification) -> Json:
        post = self.store.posts[notice.post_id]
        topic, actor = self.store.topics[post.topic_id], self.user(notice.acting_user_id)
        return {
            "id": notice.id,
            "user_id": notice.user_id,
            "notification_type": notice.type,
            "read": notice.read,
            "high_priority": notice.type == 6,
            "created_at": notice.created_at,
            "post_number": post.post_number,
            "topic_id": topic.id,
            "fancy_title": escape(topic.title),
            "slug": topic.slug,
            "data": {
                "topic_title": topic.title,
                "original_post_id": post.id,
                "original_post_type": post.post_type,
                "original_username": actor.username,
                "revision_number": None,
                "display_username": actor.username,
            },
        }

    def current_user(self, user: User) -> Json:
        names = group_names(user)
        return {
            **self.brief_user(user),
            "unread_notifications": sum(not n.read for n in self.store.inbox(user.id)),
            "admin": user.admin,
            "moderator": user.moderator,
            "staff": user.staff,
            "trust_level": user.trust_level,
            "can_create_topic": True,
            "locale": user.locale,
            "groups": [
                {"id": g.id, "name": g.name, "automatic": g.automatic}
                for g in self.store.groups.values()
                if g.name in names
            ],
        }

    def public_posts(self) -> list[Post]:
        """GET /posts.json's posts: regular, in a visible topic, not a private message, that the reader may see."""
        store = self.store
        return [
            p
            for p in store.posts.values()
            if p.post_type == REGULAR
            and not (p.hidden or p.deleted_at)
            and (topic := store.topics[p.topic_id]).visible
            and not (topic.private or topic.deleted_at)
            and can_see_post(self.viewer, p, topic, store.category_of(topic))
        ]


def avatar(username: str) -> str:
    letter = username[:1].lower() if username[:1].isascii() and username[:1].isalnum() else "x"
    color = "".join(f"{96 + (ord(c) * 37) % 112:02x}" for c in (username + "abc")[:3])
    return f"/letter_avatar_proxy/v4/letter/{letter}/{color}/{{size}}.png"


def plain(cooked: str) -> str:
    """The words of cooked HTML on one line."""
    return " ".join((LexborHTMLParser(cooked).text() or "").split())


_TOPIC_FROM_ROW = """
    tags tags_descriptions id title fancy_title posts_count created_at views reply_count like_count
    last_posted_at visible closed archived has_summary archetype slug category_id featured_link
    pinned_globally image_url unpinned pinned highest_post_number
""".split()
_TOPIC_RIGHTS = """
    move_posts delete remove_allowed_users convert_topic review_topic close_topic archive_topic
    split_merge_topic edit_staff_notes toggle_topic_visibility pin_unpin_topic banner_topic
    moderate_category
""".split()
_CATEGORY_CONSTANTS: Json = {
    "sort_order": None,
    "sort_ascending": None,
    "show_subcategory_list": False,
    "num_featured_topics": 3,
    "default_view": None,
    "subcategory_list_style": "rows_with_featured_topics",
    "default_top_period": "all",
    "default_list_filter": "all",
    "minimum_required_tags": 0,
    "navigate_to_first_post_after_read": False,
    "uploaded_logo": None,
    "uploaded_logo_dark": None,
    "uploaded_background": None,
    "uploaded_background_dark": None,
}
