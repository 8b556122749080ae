"""Answers a share of the questions a second time under other flags, when nobody waits, and posts nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import structlog

from bot.asked_question import asked_question
from bot.view import view_trace
from clients.postgres.gap_store import GapStore
from clients.postgres.ledger import Ledger
from clients.postgres.pool import Database
from clients.postgres.traces import save_trace
from forum.config import Config, FlagsSection
from forum.types import Answer, Question

log = structlog.get_logger("threadcite.shadow")


class Shadowing:
    """`answer` makes an answer under the flags given to it."""

    def __init__(
        self,
        database: Database,
        ledger: Ledger,
        store: GapStore,
        answer: Callable[[Question, FlagsSection], Answer],
        config: Callable[[], Config],
    ) -> None:
        self._database, self._ledger, self._store = database, ledger, store
        self._answer, self._config = answer, config

    def run(self) -> None:
        """Shadow what is due, one after the other, until a member waits."""
        config = self._config()
        if not config.shadow.share or not config.shadow.flags:
            return
        flags = FlagsSection(**{**config.flags.model_dump(), **config.shadow.flags})
        for row in self._store.shadow_due(config.shadow.share):
            waiting, _ = self._ledger.waiting()
            ask = self._ledger.load(row["post_id"])
            if waiting or ask is None or ask.trace_id is None:
                return
            given = self._answer(asked_question(ask, self._ledger, config, now=datetime.now(UTC)), flags)
            save_trace(self._database, given, view_trace(given), question=ask.question)
            self._store.put_shadow(
                post_id=ask.post_id, live=ask.trace_id, trace=given.trace_id, flags=config.shadow.flags
            )
            log.info("shadowed", post=ask.post_id, live=ask.trace_id, shadow=given.trace_id)
