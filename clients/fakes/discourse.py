"""A forum that agrees to everything and keeps nothing: for benchmarks of what stands before it."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from forum.errors import RemoteRefused
from forum.ports import Created, ForumClient
from forum.types import Category, Post, SourcePost, Topic

_AT = datetime(2026, 1, 1, tzinfo=UTC)
_MENTION = '<p><a class="mention" href="/u/threadcite">@threadcite</a> how does the rain gauge tip?</p>'


class AgreeableForum:
    """Every post that is asked for is a member's mention of the bot; every reply is taken and forgotten."""

    def __init__(self) -> None:
        self._ids = itertools.count(10**12)

    def post(self, post_id: int) -> SourcePost:
        return SourcePost(post=self._post(post_id, cooked=_MENTION, username="member"), topic=self.topic(post_id))

    def topic(self, topic_id: int) -> Topic:
        return Topic(id=topic_id, title="How do rain gauges tip?", category_id=1)

    def topic_posts(self, topic_id: int, post_ids: Sequence[int] | None = None) -> list[SourcePost]:
        return []

    def latest_posts(self, before: int | None = None) -> list[SourcePost]:
        return []

    def categories(self, *, opened: Collection[int] = ()) -> list[Category]:
        return [Category(id=1, name="Lounge", slug="lounge", read_restricted=False)]

    def replies(self, post_id: int) -> list[Post]:
        return []

    def first_post(self, topic_id: int) -> SourcePost | None:
        return None

    def last_posts(self, topic_id: int) -> list[SourcePost]:
        return []

    def create_post(
        self, *, topic_id: int, raw: str, reply_to_post_number: int | None = None, whisper: bool = False
    ) -> Created:
        number = next(self._ids)
        return Created(post=self._post(number, cooked=raw, username="threadcite", reply_to=reply_to_post_number))

    def create_topic(self, *, title: str, raw: str, category_id: int) -> int | None:
        return next(self._ids)

    def edit_post(self, post_id: int, *, raw: str, reason: str = "", original: str | None = None) -> Post:
        return self._post(post_id, cooked=raw, username="threadcite")

    def delete_post(self, post_id: int) -> None:
        raise RemoteRefused("This forum keeps nothing that could be deleted.", service="discourse", status=404)

    def acting_as(self, username: str) -> ForumClient:
        return self

    def _post(self, post_id: int, *, cooked: str, username: str, reply_to: int | None = None) -> Post:
        return Post(
            id=post_id,
            topic_id=post_id,
            post_number=2,
            cooked=cooked,
            created_at=_AT,
            updated_at=_AT,
            user_id=7,
            username=username,
            reply_to_post_number=reply_to,
        )
