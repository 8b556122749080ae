"""The upkeep that runs by the clock: stranded asks, missed posts, approvals, categories, retention, health."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import structlog

from bot.delivery import seen
from bot.health import REMOTE, remotes
from bot.jobs import HOUSE, SYNC, answer_job
from bot.posting import Poster
from bot.receive import Receiver
from bot.sync import Sync
from clients.postgres.ledger import Ledger
from clients.postgres.pool import Database
from clients.postgres.queue import Every, Queue
from clients.postgres.receipts import Receipts
from forum.config import Config
from forum.errors import RemoteError
from forum.ports import ForumClient
from forum.types import SourcePost

#: Pages of fifty posts that one run of the catch-up reads at most.
_PAGES = 40

log = structlog.get_logger("threadcite.house")


class House:
    """Each method is one periodic task; each may run twice or late."""

    def __init__(
        self,
        database: Database,
        ledger: Ledger,
        queue: Queue,
        forum: ForumClient,
        receiver: Receiver,
        sync: Sync,
        poster: Poster,
        config: Callable[[], Config],
    ) -> None:
        self._database, self._ledger, self._queue, self._forum = database, ledger, queue, forum
        self._receiver, self._sync, self._poster, self._config = receiver, sync, poster, config
        self._opened = config().indexer.opened_category_ids

    def tasks(self) -> dict[str, Callable[..., None]]:
        return {
            "report": self.report,
            "sweep": self.sweep,
            "follow_enqueued": self._poster.follow_enqueued,
            "catch_up": self.catch_up,
            "categories": self.categories,
            "forget": self.forget,
        }

    def periodic(self) -> Mapping[str, Every]:
        poll = int(self._config().indexer.poll_s)
        return {
            "drain": Every(cron="* * * * * */10", lane=SYNC),
            "report": Every(cron="* * * * * */10", lane=HOUSE),
            "sweep": Every(cron="* * * * * */20", lane=HOUSE),
            "follow_enqueued": Every(cron="* * * * * */30", lane=HOUSE),
            "catch_up": Every(cron=_every(poll), lane=HOUSE),
            "categories": Every(cron="*/10 * * * *", lane=HOUSE),
            "forget": Every(cron="41 * * * *", lane=HOUSE),
        }

    def report(self) -> None:
        """Tell /readyz that a worker lives, and which remote services it cannot reach."""
        self._ledger.set_health("worker", "ok")
        for service, (state, detail) in remotes().items():
            self._ledger.set_health(f"{REMOTE}{service}", state, detail)

    def sweep(self) -> None:
        """Give every open ask that no job moves on a new job; see to the categories when others were opened."""
        stranded = self._ledger.stranded()
        with self._database.connection() as connection:
            for post_id, topic_id, _ in stranded:
                log.warning("ask_stranded", post=post_id)
                self._queue.defer(connection, answer_job(post_id, topic_id))
        if (opened := self._config().indexer.opened_category_ids) != self._opened:
            self._sync.refresh_categories()
            self._opened = opened

    def catch_up(self) -> None:
        """Take in what the forum never told: its webhooks are sent once, and not at all while we are away.

        Reads the newest page whole (recent edits), and back to the last post seen.
        """
        if not self._config().webhook.catch_up:
            return
        last = Receipts(self._database).last_seen_post()
        found: list[SourcePost] = []
        before: int | None = None
        for _ in range(_PAGES):
            try:
                page = self._forum.latest_posts(before)
            except RemoteError as error:
                log.warning("catch_up_failed", reason=str(error))
                return
            found += page
            if not page or last is None or min(one.post.id for one in page) <= last:
                break
            before = min(one.post.id for one in page)
        if last is not None:
            for one in sorted(found, key=lambda one: one.post.id):
                self._receiver.take(seen(one))
        if found:
            self._ledger.set_health("catch_up", "ok", str(max(one.post.id for one in found)))

    def categories(self) -> None:
        self._sync.refresh_categories()

    def forget(self) -> None:
        """Receipts and traces that are older than the config keeps them."""
        retention = self._config().retention
        self._ledger.forget(receipts_days=retention.receipts_days, traces_days=retention.traces_days)


def _every(seconds: int) -> str:
    if seconds < 60:
        return f"* * * * * */{max(seconds, 1)}"
    minutes = min(seconds // 60, 59)
    return f"*/{minutes} * * * *"
