"""The tasks by the clock that only look back: gaps, the weekly report, shadow answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bot.digest import Digest
from bot.gaps import Gaps
from bot.jobs import HOUSE
from bot.shadowing import Shadowing
from clients.postgres.gap_store import GapStore
from clients.postgres.ledger import Ledger
from clients.postgres.page_store import PageStore
from clients.postgres.pool import Database
from clients.postgres.queue import Every
from forum.config import Config, FlagsSection
from forum.ports import ForumClient, Index
from forum.types import Answer, Question


def chores(
    database: Database,
    forum: ForumClient,
    config: Callable[[], Config],
    index: Index,
    answer: Callable[[Question, FlagsSection], Answer],
) -> Mapping[str, tuple[Callable[[], None], Every]]:
    """What `run_worker` does beside its own: name -> (what is done, when)."""
    store = GapStore(database)
    gaps = Gaps(store, config, statistics=index.statistics)
    digest = Digest(store, PageStore(database), forum, config)
    shadowing = Shadowing(database, Ledger(database), store, answer, config)
    return {
        "gaps": (gaps.gather, Every(cron="* * * * *", lane=HOUSE)),
        "digest": (digest.write, Every(cron="5 * * * *", lane=HOUSE)),
        "shadow": (shadowing.run, Every(cron="* * * * *", lane=HOUSE)),
    }
