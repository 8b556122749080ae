"""Finds our reply to an asking post in the forum: what is looked for before anything is posted again."""

from __future__ import annotations

from collections.abc import Iterable

from bot.placeholder import is_placeholder
from forum.ask import Ask
from forum.errors import RemoteRefused
from forum.ports import ForumClient
from forum.types import Post
from forum.username import folded

_WHISPER = 4


def own_reply(forum: ForumClient, ask: Ask, *, account: str, whisper: bool, placeholders: bool = False) -> Post | None:
    """The standing reply of `account`, or None: nobody else writes as it, and it answers each post once.

    `placeholders`: one counts as the reply that it will become. Raises RemoteUnavailable.
    """
    try:
        found = _among(forum.replies(ask.post_id), ask, account, whisper, placeholders)
        if found is not None or ask.post_number != 1:
            return found
    except RemoteRefused:
        # A key without that scope, or the question is gone.
        pass
    # A reply to a topic's first post need not say so: the topic's end is read for its text.
    try:
        last = (found.post for found in forum.last_posts(ask.topic_id))
        return _among(last, ask, account, whisper, placeholders)
    except RemoteRefused:
        return None


def _among(posts: Iterable[Post], ask: Ask, account: str, whisper: bool, placeholders: bool) -> Post | None:
    said = (ask.reply_raw or "").strip()
    for post in posts:
        stands = post.deleted_at is None and not post.user_deleted
        placed = post.reply_to_post_number == ask.post_number or (
            ask.post_number == 1 and post.reply_to_post_number is None and (post.raw or "").strip() == said != ""
        )
        ours = folded(post.username) == folded(account) and (placeholders or not is_placeholder(post))
        if ours and stands and placed and (post.post_type == _WHISPER) <= whisper:
            return post
    return None
