"""Takes a delivery in: its receipt (the index's queue), the ask that it opens and its job, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from bot.delivery import Delivery, Happened
from bot.jobs import answer_job, orphan_job, tidy_job
from bot.placeholder import is_placeholder
from clients.discourse_json import read_source_post
from clients.postgres.ledger import Ledger
from clients.postgres.pool import Connection, Database
from clients.postgres.queue import Queue
from clients.postgres.receipts import Receipts
from forum.addressed import NO_MENTION, WITHDRAWN, Addressed, addressed
from forum.ask import NEW_TOPIC, Asking, AskState
from forum.config import Config
from forum.text import own_question
from forum.types import Post, SourcePost

_WHISPER = 4
#: What the jobs need of a post's or topic's JSON.
_KEPT = frozenset(
    "id topic_id post_number cooked created_at updated_at user_id username version post_type reply_to_post_number "
    "hidden deleted_at user_deleted like_count staff admin moderator trust_level accepted_answer topic_title "
    "topic_slug category_id topic_archetype topic_posts_count title slug archetype visible closed archived tags "
    "posts_count views name parent_category_id read_restricted liked_by".split()
)


class Taken(StrEnum):
    """What became of a delivery, for the metrics and the answer to the sender."""

    PING = "ping"
    IGNORED = "ignored"
    DUPLICATE = "duplicate"
    ACCEPTED = "accepted"
    ASKED = "asked"


class Receiver:
    """Raises DatabaseUnavailable; then nothing is kept and the sender may try again."""

    def __init__(self, database: Database, ledger: Ledger, queue: Queue, config: Callable[[], Config]) -> None:
        self._database, self._ledger, self._queue, self._config = database, ledger, queue, config
        self._receipts = Receipts(database)

    def take(self, delivery: Delivery) -> Taken:
        if delivery.happened is Happened.PING:
            return Taken.PING
        if delivery.happened is Happened.UNKNOWN:
            return Taken.IGNORED
        with self._database.transaction() as connection:
            fresh = self._receipts.receive(
                connection,
                key=delivery.key,
                event=delivery.event,
                event_id=delivery.event_id,
                record={"happened": delivery.happened.value, **_kept(delivery.record)},
            )
            if not fresh:
                return Taken.DUPLICATE
            if delivery.happened in (Happened.POST_WRITTEN, Happened.POST_EDITED):
                found = read_source_post(delivery.record)
                return self._written(connection, found, edited=delivery.happened is Happened.POST_EDITED)
            if delivery.happened is Happened.POST_GONE:
                self._gone(connection, int(delivery.record["id"]))
        return Taken.ACCEPTED

    def _written(self, connection: Connection, found: SourcePost, *, edited: bool) -> Taken:
        config, post = self._config(), found.post
        if config.is_account(post.username):
            self._own(connection, post)
            return Taken.ACCEPTED
        replied = (
            None
            if post.reply_to_post_number is None
            else self._ledger.persona_of_reply(connection, post.topic_id, post.reply_to_post_number)
        )
        meant = addressed(
            found,
            bot_username=config.forum.bot_username,
            deny_usernames=config.bot.deny_usernames,
            group_mentions=config.bot.group_mentions,
            replies_to_bot=replied is not None,
            personas=config.usernames[1:],
            replied_persona=replied or "",
        )
        if not edited and meant.reason == NO_MENTION and _opens(found, config):
            meant = Addressed(kind=NEW_TOPIC)
        if not meant:
            if edited and self._ledger.withdraw(
                connection,
                [post.id],
                state=AskState.DECLINED,
                reason=meant.reason,
                form=post.updated_at,
                unasked=meant.reason not in WITHDRAWN,
            ):
                self._queue.defer(connection, orphan_job(post.id))
            return Taken.ACCEPTED
        if config.bot.mode == "off":
            return Taken.ACCEPTED
        turn = self._ledger.turn(connection, post.user_id)
        if self._ledger.record(connection, asking(found, meant, config)):
            self._queue.defer(connection, answer_job(post.id, post.topic_id, turn))
            return Taken.ASKED
        return Taken.ACCEPTED

    def _own(self, connection: Connection, post: Post) -> None:
        """A reply of ours came past; a placeholder that was approved too late is taken away again."""
        answered = post.reply_to_post_number
        if is_placeholder(post):
            if self._ledger.is_stray(connection, post.topic_id, answered or 1, placeholder_post_id=post.id):
                self._queue.defer(connection, tidy_job(post.id, post.username))
        elif answered is not None and not (post.deleted_at or post.user_deleted):
            self._ledger.saw_own_reply(
                connection,
                topic_id=post.topic_id,
                post_number=answered,
                reply=post,
                whisper=post.post_type == _WHISPER,
            )

    def _gone(self, connection: Connection, post_id: int) -> None:
        self._ledger.withdraw(connection, [post_id], state=AskState.DISCARDED, reason="the question was deleted")
        self._ledger.scrub_question(connection, [post_id])
        if self._ledger.has_reply(connection, post_id):
            self._queue.defer(connection, orphan_job(post_id))


def _opens(found: SourcePost, config: Config) -> bool:
    """Whether this post opens a topic that the bot is to look at unasked."""
    section = config.new_topics
    return section.enabled and found.post.post_number == 1 and found.topic.category_id in section.category_ids


def asking(found: SourcePost, meant: Addressed, config: Config) -> Asking:
    """The ledger's view of a post that asks the bot."""
    post, topic = found.post, found.topic
    return Asking(
        post_id=post.id,
        topic_id=post.topic_id,
        post_number=post.post_number,
        user_id=post.user_id,
        username=post.username,
        trust_level=post.trust_level,
        category_id=topic.category_id,
        title=topic.title,
        kind=meant.kind,
        persona=meant.persona,
        question=own_question(post.cooked or post.raw or "", meant.persona or config.forum.bot_username),
        reply_to_post_number=post.reply_to_post_number,
        version=post.version,
        asked_at=post.created_at,
        form=post.updated_at,
    )


def _kept(record: Mapping[str, Any]) -> dict[str, Any]:
    """The text of what everyone may not read is not even stored."""
    kept = {key: value for key, value in record.items() if key in _KEPT}
    public = record.get("post_type", 1) == 1 and record.get("topic_archetype", "regular") == "regular"
    if not public or record.get("hidden") is True or record.get("deleted_at") is not None:
        kept.pop("cooked", None)
        kept.pop("topic_title", None)
    return kept
