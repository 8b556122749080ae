"""Corrects replies that stand in the forum: a source is gone, closed off or rewritten, or the question went."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import structlog

from bot.messages import message
from bot.metrics import CORRECTIONS
from bot.scope import thread_of
from bot.withdrawn import without_sources
from clients.postgres.ledger import Ledger
from clients.postgres.queue import TryLater
from forum.ask import Ask, AskState
from forum.config import Config
from forum.errors import RemoteRefused
from forum.ports import ForumClient

log = structlog.get_logger("threadcite.correct")


class Corrector:
    """Each method may be repeated; an edit to the same text changes nothing. Raise RemoteUnavailable."""

    def __init__(self, ledger: Ledger, forum: ForumClient, config: Callable[[], Config]) -> None:
        self._ledger, self._forum, self._config = ledger, forum, config

    def correct(self, post_id: int) -> None:
        """Take out of the reply to this asking post what no longer stands."""
        ask = self._ledger.load(post_id)
        if ask is None or ask.reply_raw is None:
            return
        if ask.state in (AskState.POSTING, AskState.ENQUEUED):
            raise TryLater(20, "the reply is on its way")
        trace = self._ledger.trace_of(post_id)
        if ask.reply_post_id is None or trace is None:
            return
        gone = self._gone(ask, trace)
        if not gone:
            return
        language = str(trace.get("language") or self._config().forum.default_language)
        raw = without_sources(
            ask.reply_raw,
            gone,
            note=message("sources_gone", language),
            nothing_left=message("all_sources_gone", language),
        )
        if raw != ask.reply_raw:
            self._edit(ask, ask.reply_post_id, raw)

    def orphan(self, post_id: int) -> None:
        """The asking post was deleted (or asks no more): its reply is left or removed, a placeholder goes always."""
        ask = self._ledger.load(post_id)
        if ask is not None and ask.reply_post_id is None and ask.placeholder_post_id is not None:
            with suppress(RemoteRefused):
                self._forum.acting_as(ask.persona).delete_post(ask.placeholder_post_id)
        if ask is None or ask.reply_post_id is None or self._config().bot.orphan_reply == "leave":
            return
        try:
            question = self._forum.post(post_id).post
            if question.deleted_at is None and not question.user_deleted:
                return
        except RemoteRefused:
            pass
        try:
            self._forum.acting_as(ask.persona).delete_post(ask.reply_post_id)
        except RemoteRefused as error:
            self._ledger.rewritten(ask, ask.reply_raw or "", f"the orphaned reply could not be removed: {error}")
            return
        self._ledger.rewritten(ask, "", "the question was deleted and the reply with it")

    def tidy(self, post_id: int, persona: str) -> None:
        """Delete a post of ours; that it is gone already is well."""
        with suppress(RemoteRefused):
            self._forum.acting_as(persona).delete_post(post_id)

    def _gone(self, ask: Ask, trace: Mapping[str, Any]) -> set[int]:
        citations = [one for one in trace.get("citations", ()) if isinstance(one, dict) and one.get("post_id")]
        thread = thread_of(ask.topic_id, ask.category_id, self._config())
        texts = self._ledger.public_texts([int(one["post_id"]) for one in citations], thread)
        return _of_removed_documents(trace) | {
            int(one["n"])
            for one in citations
            if int(one["post_id"]) not in texts or not _holds(texts[int(one["post_id"])], str(one.get("quote", "")))
        }

    def _edit(self, ask: Ask, reply_post_id: int, raw: str) -> None:
        try:
            self._forum.acting_as(ask.persona).edit_post(reply_post_id, raw=raw, reason="a source changed")
        except RemoteRefused as error:
            # Somebody removed the reply, or the day's edits are used up: the operator is told.
            log.warning("correction_refused", post=ask.post_id, reason=str(error))
            self._ledger.rewritten(ask, ask.reply_raw or "", f"could not be corrected: {error}")
            return
        CORRECTIONS.inc()
        self._ledger.rewritten(ask, raw, "corrected: a source changed or is gone")


def _of_removed_documents(trace: Mapping[str, Any]) -> set[int]:
    """A document's words leave the trace when it is removed, and nothing else empties its quotation."""
    return {
        int(one["n"])
        for one in trace.get("citations", ())
        if isinstance(one, dict) and str(one.get("content_id", "")).startswith("doc:") and not one.get("quote")
    }


def _holds(text: str, quote: str) -> bool:
    """Whether a quotation, cut or not, is still what the post says."""
    return " ".join(quote.strip("… \n").split()) in " ".join(text.split())
