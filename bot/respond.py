"""One ask from its first look to its end: limits, answer, post; a crash anywhere resumes where it stood."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import structlog

from bot.asked_question import asked_question
from bot.calls import collecting
from bot.limits import TurnedAway, turned_away
from bot.messages import message
from bot.metrics import ANSWER_SECONDS, ASKS, DEGRADED
from bot.posting import Poster
from bot.view import view_trace
from clients.postgres.asked_before import AskedBefore
from clients.postgres.ledger import Ledger
from clients.postgres.pool import Database
from clients.postgres.queue import TryLater
from clients.postgres.traces import add_posting, save_trace
from forum.ask import NEW_TOPIC, OPEN_STATES, Ask, AskState
from forum.config import Config
from forum.errors import DatabaseUnavailable, ThreadciteError
from forum.language import detect
from forum.types import Answer, Question, Route

#: A question that is edited faster than it can be answered is left alone for a while.
_ROUNDS = 5
_UNFORESEEN_TRIES = 3
_WAIT_FOR_LLM = timedelta(hours=6)
#: Later, the people have seen the topic themselves.
_STILL_NEW = timedelta(hours=1)
_OUTCOMES = {
    Route.ABSTAINED: AskState.ABSTAINED,
    Route.GATED: AskState.DECLINED,
    Route.UNSAFE: AskState.DECLINED,
    Route.REFUSED: AskState.DECLINED,
}

log = structlog.get_logger("threadcite.respond")


class Responder:
    """`answer` is the pipeline with its tools and config filled in. No database connection is held while it works.

    `category_is_open` says whether an asking post's category may be answered in, `topic_is_listed` whether a new topic
    is for everyone to find.
    """

    def __init__(
        self,
        database: Database,
        ledger: Ledger,
        poster: Poster,
        answer: Callable[[Question], Answer],
        config: Callable[[], Config],
        *,
        category_is_open: Callable[[int | None], bool] = lambda _: True,
        topic_is_listed: Callable[[int], bool] = lambda _: True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database, self._ledger, self._poster = database, ledger, poster
        self._before = AskedBefore(database)
        self._answer, self._config, self._now = answer, config, now
        self._category_is_open, self._topic_is_listed = category_is_open, topic_is_listed
        self._llm = threading.BoundedSemaphore(config().bot.llm_concurrency)

    def respond(self, post_id: int) -> None:
        """Move the ask to its end. Raises TryLater when something must be waited for."""
        ask = self._ledger.begin(post_id)
        try:
            for _ in range(_ROUNDS):
                if ask is None or ask.state not in OPEN_STATES:
                    return
                ask = self._make(ask) if ask.state is AskState.ANSWERING else self._post(ask)
        except ThreadciteError:
            raise
        except Exception as error:
            log.exception("answer_failed", post=post_id)
            if ask is not None and ask.tries >= _UNFORESEEN_TRIES:
                self._ledger.finish(ask, AskState.FAILED, f"unforeseen: {type(error).__name__}")
                return
            raise
        if ask is not None and ask.state in OPEN_STATES:
            raise TryLater(60, "the question keeps changing")

    def _post(self, ask: Ask) -> Ask | None:
        """Hand the reply over; what the forum was asked for stands in the trace."""
        started = time.perf_counter()
        with collecting() as log_of_calls:
            try:
                return self._poster.post(ask)
            finally:
                if ask.trace_id and (calls := log_of_calls.calls()):
                    ms = (time.perf_counter() - started) * 1000
                    with suppress(DatabaseUnavailable):
                        add_posting(self._database, ask.trace_id, post_id=ask.post_id, ms=ms, calls=calls)

    def _make(self, ask: Ask) -> Ask | None:
        """From `answering` to `ready`; or the ask in its newer form; or None when it has ended."""
        config = self._config()
        if config.bot.mode == "off":
            return self._end(ask, AskState.DISCARDED, "mode off")
        if ask.persona and not config.is_account(ask.persona):
            return self._end(ask, AskState.DECLINED, f"the persona {ask.persona} is not in the config any more")
        if config.bot.allow_category_ids and ask.category_id not in config.bot.allow_category_ids:
            return self._end(ask, AskState.DECLINED, "not in an allowed category")
        if ask.category_id not in config.bot.allow_category_ids and not self._category_is_open(ask.category_id):
            return self._end(ask, AskState.DECLINED, "in a category that not everyone may read")
        if ask.kind == NEW_TOPIC:
            return self._point(ask, config)
        if (verdict := turned_away(ask, self._before, config.limits(ask.persona))) is not None:
            return self._turn_away(ask, verdict, config)
        held = self._poster.hold_place(ask)
        if held is None:
            return self._ledger.anew(ask)
        given = self._answered(ask, config)
        waits = config.bot.when_llm_down == "later" and self._now() - ask.created_at < _WAIT_FOR_LLM
        if waits and "llm" in given.degraded:
            self._ledger.note(ask, "waits for the language model")
            raise TryLater(min(15.0 * 2 ** min(ask.tries, 5), 300.0), "the language model is down")
        save_trace(self._database, given, view_trace(given), question=ask.question, ask_post_id=ask.post_id)
        ready = self._ledger.ready(
            ask,
            reply_raw=given.text,
            outcome=_OUTCOMES.get(given.route, AskState.POSTED),
            trace_id=given.trace_id,
            degraded=given.degraded,
        )
        return ready or self._ledger.anew(ask)

    def _point(self, ask: Ask, config: Config) -> Ask | None:
        """Nobody asked: links to older topics, or nothing at all."""
        if not config.new_topics.enabled or ask.category_id not in config.new_topics.category_ids:
            return self._pass_over(ask, "new topics are not looked at here")
        if self._now() - ask.asked_at > _STILL_NEW:
            return self._pass_over(ask, "the topic is not new any more")
        if not self._topic_is_listed(ask.topic_id):
            return self._pass_over(ask, "the topic is unlisted")
        given = self._answered(ask, config)
        save_trace(self._database, given, view_trace(given), question=ask.question, ask_post_id=ask.post_id)
        if given.route is not Route.ANSWERED:
            return self._end(ask, AskState.DECLINED, "no older topic is close enough")
        ready = self._ledger.ready(ask, reply_raw=given.text, trace_id=given.trace_id, degraded=given.degraded)
        return ready or self._ledger.anew(ask)

    def _pass_over(self, ask: Ask, reason: str) -> Ask | None:
        """Nobody asked the bot and it will not look: the words, which not everyone may find, are not kept."""
        with self._database.connection() as connection:
            self._ledger.scrub_question(connection, [ask.post_id])
        return self._end(ask, AskState.DECLINED, reason)

    def _answered(self, ask: Ask, config: Config) -> Answer:
        question = asked_question(ask, self._ledger, config, now=self._now())
        with self._llm:
            started = time.perf_counter()
            given = self._answer(question)
        ANSWER_SECONDS.observe(time.perf_counter() - started)
        for part in given.degraded:
            DEGRADED.labels(part=part).inc()
        return given

    def _turn_away(self, ask: Ask, verdict: TurnedAway, config: Config) -> Ask | None:
        if verdict.reset_at is None:
            return self._end(
                ask, AskState.DECLINED, f"{verdict.reason} (told before)" if verdict.reason != "loop" else "loop"
            )
        language = detect(ask.question, config.forum.languages, default=config.forum.default_language).code
        text = message(
            verdict.reason.replace(":", "_"),
            language,
            limit=verdict.limit,
            time=f"{verdict.reset_at.astimezone(UTC):%H:%M}",
        )
        return self._ledger.ready(ask, reply_raw=text, outcome=AskState.DECLINED, reason=verdict.reason)

    def _end(self, ask: Ask, state: AskState, reason: str) -> Ask | None:
        if self._ledger.finish(ask, state, reason):
            ASKS.labels(state=state.value).inc()
            log.info("ask_ended", post=ask.post_id, state=state.value, reason=reason)
        return None
