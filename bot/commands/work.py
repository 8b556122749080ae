"""`bot work`: the process that indexes what the forum tells and answers the mentions."""

from __future__ import annotations

import threading

from bot.answer import answer
from bot.composition import build_tools
from bot.jobs import lanes
from bot.worker import run_worker
from clients.composition import build_forum, database_url
from clients.config_file import load_config
from clients.postgres.ingest import Ingest
from clients.postgres.migrate import migrate
from clients.postgres.pool import Database


def work() -> None:
    """Work through the queue until told to end (SIGTERM finishes what is under way).

    Example: THREADCITE_DISCOURSE_API_KEY_FILE=key.txt python -m bot work
    """
    config = load_config()
    url = database_url()
    migrate(url)
    size = sum(lane.concurrency for lane in lanes(config)) + 4
    with Database(url, max_size=size) as database:
        tools = build_tools(config, database)
        run_worker(
            database,
            build_forum(config),
            Ingest(database, tools.embedder, config),
            lambda question: answer(question, tools, config),
            lambda: config,
            stop=threading.Event(),
        )
