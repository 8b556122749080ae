"""Brings what the forum told into the index, and finds the replies that rest on what changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime

import structlog

from bot.delivery import Happened, seen
from bot.receive import Receiver
from clients.discourse_json import integer, read_source_post, read_topic
from clients.postgres.ingest import Ingest
from clients.postgres.ledger import Ledger
from clients.postgres.pool import Database
from clients.postgres.receipts import Receipts, Undigested
from clients.postgres.withdraw import look_again
from forum.errors import DatabaseUnavailable, RemoteError, RemoteRefused, RemoteUnavailable
from forum.ports import ForumClient
from forum.types import SourcePost

#: A run looks out for news this long, so often, and takes so many at once.
_WATCH_S, _LOOK_S, _BATCH = 9.0, 0.4, 100
_TRIES = 5
_TOLD_POSTS = (Happened.POST_WRITTEN, Happened.POST_EDITED, Happened.SOLVED)

log = structlog.get_logger("threadcite.sync")


class Sync:
    """What deliveries told, into the index. Every step may be repeated, in any order.

    Where the forum must be asked first and does not answer, the delivery waits. Raises DatabaseUnavailable.
    """

    def __init__(
        self,
        database: Database,
        ledger: Ledger,
        ingest: Ingest,
        forum: ForumClient,
        receiver: Receiver,
        *,
        is_own: Callable[[str], bool],
        stop: threading.Event,
    ) -> None:
        self._database, self._ledger, self._receipts = database, ledger, Receipts(database)
        self._ingest, self._forum, self._receiver = ingest, forum, receiver
        self._is_own, self._stop = is_own, stop

    def drain(self) -> None:
        """Digest what has come in, and go on looking for some seconds: the next run follows at once."""
        until = time.monotonic() + _WATCH_S
        while not self._stop.is_set():
            waiting = self._receipts.undigested(_BATCH)
            if waiting:
                self._digest_all(waiting)
            elif time.monotonic() > until:
                return
            else:
                self._stop.wait(_LOOK_S)

    def refresh_categories(self) -> None:
        """Ask the forum who may read which category; what was closed leaves the index at once."""
        told = self._forum.categories(opened=self._ingest.admission().opened)
        self._ingest.put_categories(told, at=datetime.now(UTC))

    def category_is_open(self, category_id: int | None) -> bool:
        """Whether everyone may read it or the operator opened it; the forum is asked about one not described yet."""
        if category_id is None:
            return True
        known = self._ingest.store.categories()
        if category_id not in known:
            self.refresh_categories()
            known = self._ingest.store.categories()
        if category_id not in known:
            return False
        return not known[category_id].read_restricted or category_id in self._ingest.admission().opened

    def topic_is_listed(self, topic_id: int) -> bool:
        """Whether a list of topics shows it; the forum is asked, since a post does not say so of its topic."""
        known = self._ingest.store.topics([topic_id])
        if topic_id in known and not known[topic_id][0].visible:
            return False
        try:
            return self._forum.topic(topic_id).visible
        except RemoteRefused:
            return False

    def withdraw_posts(self, post_ids: Collection[int]) -> None:
        """The forum no longer shows these posts."""
        self._ingest.destroy_posts(list(post_ids), at=datetime.now(UTC))
        self._correct(post_ids)

    def _digest_all(self, waiting: Sequence[Undigested]) -> None:
        """Posts and topics go in together, which costs a tenth; the rest, and what failed together, one by one."""
        for kinds, take in ((_TOLD_POSTS, self._take_told), ((Happened.TOPIC_CHANGED,), self._topics)):
            told = [one for one in waiting if one.record["happened"] in kinds]
            if told and self._digested_together(told, take):
                waiting = [one for one in waiting if one.record["happened"] not in kinds]
        for one in waiting:
            self._digest_one(one)

    def _digested_together(self, told: Sequence[Undigested], take: Callable[[Sequence[Undigested]], None]) -> bool:
        try:
            take(told)
        except DatabaseUnavailable:
            raise
        except Exception as error:
            log.info("one_by_one", count=len(told), reason=type(error).__name__)
            return False
        self._receipts.digested([one.key for one in told])
        return True

    def _digest_one(self, one: Undigested) -> None:
        try:
            self._digest(one)
        except DatabaseUnavailable:
            raise
        except RemoteUnavailable as error:
            self._receipts.postpone(one.key, max(error.retry_after_s or 0.0, min(2.0**one.tries, 300.0)), str(error))
        except Exception as error:
            log.exception("delivery_not_digested", key=one.key)
            reason = f"{type(error).__name__}: {error}"
            if one.tries + 1 < _TRIES:
                self._receipts.postpone(one.key, 10.0, reason)
            else:
                self._receipts.digested([one.key], reason[:500])
        else:
            self._receipts.digested([one.key])

    def _digest(self, one: Undigested) -> None:
        record, at = one.record, one.received_at
        match Happened(record["happened"]):
            case Happened.POST_WRITTEN | Happened.POST_EDITED | Happened.SOLVED:
                self._take_told([one])
            case Happened.POST_GONE:
                self._gone(int(record["id"]), at)
            case Happened.POST_BACK:
                self._back(int(record["id"]))
            case Happened.TOPIC_CHANGED | Happened.TOPIC_BACK:
                self._topics([one])
            case Happened.TOPIC_GONE:
                self._correct(self._ingest.destroy_topics([int(record["id"])], at=at))
                with self._database.transaction() as connection:
                    self._ledger.withdraw_topic(connection, int(record["id"]))
            case Happened.CATEGORY_CHANGED:
                self.refresh_categories()
            case Happened.LIKED:
                self._ledger.like(int(record["id"]), integer(record.get("liked_by")))

    def _take_told(self, told: Sequence[Undigested]) -> None:
        self._take([read_source_post(one.record) for one in told])

    def _take(self, posts: Sequence[SourcePost]) -> None:
        posts = [one for one in posts if not self._is_own(one.post.username)]
        if not posts:
            return
        # A post in a category that nobody has described counts as restricted: ask first.
        for category_id in {one.topic.category_id for one in posts}:
            self.category_is_open(category_id)
        self._meet_topics(posts)
        self._ingest.ingest(posts, when_embedder_down="store")
        self._correct([one.post.id for one in posts])

    def _meet_topics(self, posts: Sequence[SourcePost]) -> None:
        """Ask about old topics that the index has never seen: a post does not say that its topic is unlisted.

        A topic that begins in front of us needs no question: its own `topic_created` tells.
        """
        beginning = {one.topic.id for one in posts if one.post.post_number == 1}
        strange = {one.topic.id for one in posts} - beginning
        for topic_id in sorted(strange - self._ingest.store.topics(strange).keys() if strange else ()):
            self._ingest.put_topics([self._forum.topic(topic_id)], at=datetime.now(UTC))

    def _gone(self, post_id: int, at: datetime) -> None:
        self._ingest.destroy_posts([post_id], at=at)
        self._correct([post_id])
        self._ledger.scrub_sources([post_id])
        # Deliveries come in any order: it may be back already.
        try:
            self._back(post_id)
        except RemoteError as error:
            log.info("destroyed_post_not_checked", post=post_id, reason=str(error))

    def _back(self, post_id: int) -> None:
        now = datetime.now(UTC)
        try:
            found = self._forum.post(post_id)
        except RemoteRefused:
            return
        if found.post.deleted_at is None and not self._is_own(found.post.username):
            self._ingest.put_topics([self._forum.topic(found.post.topic_id)], at=now)
            self._ingest.recover_posts([found], at=now)

    def _topics(self, told: Sequence[Undigested]) -> None:
        """Told oldest first: of several about one topic the last one counts."""
        last = {topic.id: (topic, one.received_at) for one in told for topic in [read_topic(one.record)]}
        self._ingest.put_topics([topic for topic, _ in last.values()], at=[at for _, at in last.values()])
        for topic_id, event in dict.fromkeys((int(one.record["id"]), one.key.partition(":")[0]) for one in told):
            if event == "topic_recovered":
                self._ingest.recover_posts(self._forum.topic_posts(topic_id), at=datetime.now(UTC))
            elif event in ("topic_edited", "topic_revised") and last[topic_id][0].archetype == "regular":
                self._see_first_post(topic_id)
        look_again(self._database, topics=last.keys())

    def _see_first_post(self, topic_id: int) -> None:
        """An edit of title and first post together is told as the topic's alone."""
        try:
            first = self._forum.first_post(topic_id)
        except RemoteRefused:
            return
        if first is not None:
            self._receiver.take(seen(first))

    def _correct(self, post_ids: Collection[int]) -> None:
        look_again(self._database, posts=post_ids)
