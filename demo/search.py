"""A plain search with the most used of Discourse's filters: every word must stand in the title or the text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

from demo.records import Post, Topic
from demo.serialize import Shapes, plain

MOST = 50
_FILTER = re.compile(r"(?:^|\s)(?:(in|order|status|tags|before|after|user|category):(\S+)|([@#])(\S+))", re.IGNORECASE)


def search(shapes: Shapes, query: str) -> dict[str, Any]:
    """The JSON of GET /search.json for what the reader may see."""
    filters: dict[str, str] = {}
    for found in _FILTER.finditer(query):
        filters[(found[1] or {"@": "user", "#": "category"}[found[3]]).lower()] = found[2] or found[4]
    words = [_fold(w) for w in re.findall(r"\w+", _FILTER.sub(" ", query))]
    store, hits = shapes.store, list[Post]()
    for post in shapes.public_posts():
        topic = store.topics[post.topic_id]
        text = topic.title if filters.get("in") == "title" else f"{topic.title} {post.raw}"
        if (words or filters) and all(w in _fold(text) for w in words) and _passes(shapes, post, topic, filters):
            hits.append(post)
    by_likes = filters.get("order") == "likes"
    hits.sort(key=lambda p: (p.like_count if by_likes else 0, p.created_at), reverse=True)
    hits = hits[:MOST]
    topics = [store.topics[n] for n in dict.fromkeys(p.topic_id for p in hits)]
    return {
        "posts": [_row(shapes, p) for p in hits],
        "topics": [shapes.topic_row(t) for t in topics],
        "users": [],
        "categories": [],
        "tags": [],
        "groups": [],
        "grouped_search_result": {
            **dict.fromkeys(("more_posts", "more_users", "more_categories", "more_full_page_results", "error")),
            "term": query,
            "search_log_id": 1,
            "can_create_topic": shapes.viewer is not None,
            "post_ids": [p.id for p in hits],
            **{f"{kind}_ids": [] for kind in ("user", "category", "tag", "group")},
        },
    }


def _passes(shapes: Shapes, post: Post, topic: Topic, filters: dict[str, str]) -> bool:
    category = shapes.store.category_of(topic)
    tests: dict[str, Callable[[str], object]] = {
        "user": lambda v: shapes.user(post.user_id).username.lower() == v.lower(),
        "category": lambda v: category is not None and category.slug == v,
        "tags": lambda v: set(v.split(",")) & set(topic.tags),
        "before": lambda v: post.created_at < v,
        "after": lambda v: post.created_at >= v,
        "status": lambda v: {
            "solved": topic.accepted_post_id is not None,
            "unsolved": topic.accepted_post_id is None,
            "closed": topic.closed,
            "open": not topic.closed,
        }.get(v, True),
        "in": lambda v: post.post_number == 1 if v == "first" else True,
    }
    return all(tests[name](value) for name, value in filters.items() if name in tests)


def _row(shapes: Shapes, post: Post) -> dict[str, Any]:
    user, text = shapes.user(post.user_id), plain(post.cooked)
    return {
        **{k: v for k, v in shapes.brief_user(user).items() if k != "id"},
        "id": post.id,
        "created_at": post.created_at,
        "like_count": post.like_count,
        "blurb": text[:200],
        "post_number": post.post_number,
        "topic_id": post.topic_id,
    }


def _fold(text: str) -> str:
    plain_text = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in plain_text if not unicodedata.combining(c))
