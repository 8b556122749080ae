"""`bot work`: the process that indexes what the forum tells and answers the mentions."""

from __future__ import annotations

import threading

import structlog

from bot.answer import answer
from bot.chores import chores
from bot.jobs import lanes
from bot.live_tools import LiveTools
from bot.metrics_route import serve_worker_metrics
from bot.new_topics import older_topics
from bot.observe import observe
from bot.worker import run_worker
from clients.composition import build_forum, database_url
from clients.config_watch import LiveConfig
from clients.logs import set_up_logs
from clients.postgres.config_history import ConfigHistory
from clients.postgres.ingest import Ingest
from clients.postgres.migrate import migrate
from clients.postgres.pool import Database
from clients.secrets import read_secret
from forum.config import FlagsSection
from forum.errors import ConfigError
from forum.types import Answer, Question

log = structlog.get_logger("threadcite.worker")


def work() -> None:
    """Work through the queue until told to end (SIGTERM finishes what is under way).

    Example: THREADCITE_DISCOURSE_API_KEY_FILE=key.txt python -m bot work
    """
    live = LiveConfig()
    config = live()
    if config.bot.mode in ("draft", "live") and not read_secret("DISCOURSE_API_KEY"):
        raise ConfigError(
            "THREADCITE_DISCOURSE_API_KEY is not set: the bot cannot post. Set it (or ..._FILE), or bot.mode: shadow."
        )
    set_up_logs(config.logging)
    url = database_url()
    migrate(url)
    size = sum(lane.concurrency for lane in lanes(config)) + 4
    with Database(url, max_size=size) as database:
        live.tell = ConfigHistory(database).note
        live.watch()
        serve_worker_metrics(config.metrics.worker_address)
        tools = LiveTools(live, database)

        def answered(question: Question) -> Answer:
            structlog.contextvars.clear_contextvars()
            structlog.contextvars.bind_contextvars(post=question.post_id)
            now = tools()
            make = older_topics if question.opening else answer
            return observe(make(question, now.tools, now.config))

        def shadowed(question: Question, flags: FlagsSection) -> Answer:
            now = tools()
            return answer(question, now.tools, now.config.model_copy(update={"flags": flags}))

        forum = build_forum(config)
        log.info("working", mode=config.bot.mode, forum=config.forum.base_url, bot=config.forum.bot_username)
        run_worker(
            database,
            forum,
            Ingest(database, tools().tools.embedder, config, live=live),
            answered,
            live,
            stop=threading.Event(),
            chores=chores(database, forum, live, tools().tools.index, shadowed),
        )
