"""The worker process: the tasks of every lane, built from the clients that the command hands over."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType

from bot.calls import collected, timed
from bot.correct import Corrector
from bot.house import House
from bot.jobs import lanes
from bot.posting import Poster
from bot.receive import Receiver
from bot.respond import Responder
from bot.sync import Sync
from clients.postgres.ingest import Ingest
from clients.postgres.ledger import Ledger
from clients.postgres.pool import Database
from clients.postgres.queue import Every, Lanes, Queue
from forum.config import Config
from forum.ports import ForumClient
from forum.types import Answer, Question


def run_worker(
    database: Database,
    forum: ForumClient,
    ingest: Ingest,
    answer: Callable[[Question], Answer],
    config: Callable[[], Config],
    *,
    stop: threading.Event,
    chores: Mapping[str, tuple[Callable[[], None], Every]] = MappingProxyType({}),
) -> None:
    """Work until `stop` is set. `config` is asked whenever a decision is made, so that a change needs no restart.

    `chores` are further tasks by the clock: name -> (what is done, when).
    """
    forum = timed(forum, "discourse", collected)
    ledger, queue = Ledger(database), Queue()
    receiver = Receiver(database, ledger, queue, config)
    sync = Sync(
        database,
        ledger,
        ingest,
        forum,
        receiver,
        is_own=lambda username: config().is_account(username),
        stop=stop,
    )
    poster = Poster(forum, ledger, config, withdraw_sources=sync.withdraw_posts)
    responder = Responder(
        database,
        ledger,
        poster,
        answer,
        config,
        category_is_open=sync.category_is_open,
        topic_is_listed=sync.topic_is_listed,
    )
    corrector = Corrector(ledger, forum, config)
    house = House(database, ledger, queue, forum, receiver, sync, poster, config)
    tasks: dict[str, Callable[..., None]] = {
        "answer": responder.respond,
        "drain": sync.drain,
        "correct": corrector.correct,
        "orphan": corrector.orphan,
        "tidy": corrector.tidy,
        **house.tasks(),
        **{name: work for name, (work, _) in chores.items()},
    }
    periodic = {**house.periodic(), **{name: every for name, (_, every) in chores.items()}}
    Lanes(database.url, tasks, lanes(config()), periodic).run(stop)
