"""Posts a finished reply exactly once: look before posting again, and say what a refusal means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import structlog

from bot.metrics import ASKS, POST_FAILURES
from bot.own_reply import own_reply
from bot.placeholder import placeholder
from bot.reply_text import count_links, fitted, told_apart, with_few_links
from bot.scope import thread_of
from bot.topic_end import somebody_answered, talks_alone
from clients.postgres.ledger import Ledger
from clients.postgres.queue import TryLater
from forum.addressed import NO_MENTION, addressed
from forum.ask import NEW_TOPIC, Ask, AskState
from forum.config import Config
from forum.errors import OutcomeUnknown, RemoteError, RemoteRefused, RemoteUnavailable
from forum.ports import Created, ForumClient
from forum.text import own_question
from forum.types import Post

_GONE = (403, 404, 410)
#: Discourse's default for accounts of trust level 0.
_FEW_LINKS = 2
_ON_THE_PAGE = "waits for approval on the drafts page"
_ALONE = "waits for somebody else's post in the topic"
_GIVE_UP = timedelta(hours=24)
_FIRST_FOLLOW_UP = timedelta(seconds=60)
_LATE = timedelta(minutes=2)

log = structlog.get_logger("threadcite.posting")


class Poster:
    """Takes an ask that is `ready` (or `posting`, after a crash or a lost answer) to its end.

    `withdraw_sources` is told of cited posts that the forum no longer shows, before the answer is made anew.
    Raises TryLater when the forum cannot be asked now; no worker waits meanwhile.
    """

    def __init__(
        self,
        forum: ForumClient,
        ledger: Ledger,
        config: Callable[[], Config],
        *,
        withdraw_sources: Callable[[Sequence[int]], None],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._forum, self._ledger, self._config = forum, ledger, config
        self._withdraw_sources, self._now = withdraw_sources, now
        #: Accounts that the log has named for it.
        self._may_not_whisper: set[str] = set()

    def post(self, ask: Ask) -> Ask | None:
        """None when nothing is left to do; the ask, back in `answering`, when the answer has to be made anew."""
        try:
            return self._post(ask)
        except OutcomeUnknown as error:
            POST_FAILURES.labels(kind="unknown").inc()
            self._wait(ask, error, self._settle_s)
        except RemoteUnavailable as error:
            POST_FAILURES.labels(kind="throttled" if error.status == 429 else "unavailable").inc()
            self._ledger.not_posted(ask)
            self._wait(ask, error, max(error.retry_after_s or 0.0, min(2.0 ** min(ask.tries, 8), 300.0)))
        return None

    def hold_place(self, ask: Ask) -> Ask | None:
        """Post "looking..." at once; the reply is edited into it. None when the ask has moved on.

        A courtesy: a forum that will not take it now gets the reply alone.
        """
        config = self._config()
        if not config.bot.placeholder or config.bot.mode != "live" or ask.placeholder_post_id is not None:
            return ask
        found: Post | None = None
        if ask.posting_at is not None:
            self._settle(ask)
            found = self._own_reply(ask, placeholders=True)
        if found is None:
            held = self._ledger.placeholding(ask)
            if held is None:
                return None
            raw = placeholder(ask.post_id, config.forum.default_language)
            try:
                created = self._forum.acting_as(ask.persona).create_post(
                    topic_id=ask.topic_id, raw=raw, reply_to_post_number=ask.post_number
                )
            except OutcomeUnknown as error:
                raise TryLater(self._settle_s, str(error)) from error
            except RemoteError as error:
                self._ledger.note(ask, f"no placeholder: {error}")
            else:
                found = created.post
                if created.enqueued:
                    # The receiver sees to it that it goes again when somebody approves it.
                    self._ledger.note(ask, "the placeholder waits for the moderators' approval")
        return self._ledger.placeholder(ask, found)

    def follow_enqueued(self) -> None:
        """See whether replies that waited for approval stand in their topics now."""
        for ask in self._ledger.enqueued_due():
            if found := self._own_reply(ask):
                self._done(self._ledger.posted(ask, reply_post_id=found.id, reply_post_number=found.post_number))
                continue
            waited = self._now() - (ask.posting_at or ask.created_at)
            if waited > timedelta(days=self._config().bot.enqueued_days):
                self._finish(ask, AskState.FAILED, "the forum's moderators did not approve the reply")
            else:
                self._ledger.follow_up(ask, self._now() + min(max(waited, _FIRST_FOLLOW_UP), timedelta(hours=1)))

    def _post(self, ask: Ask) -> Ask | None:
        config = self._config()
        # A question that reached us late may have been answered before a backup was restored.
        late = ask.posting_at is None and ask.created_at - ask.asked_at > _LATE
        if (ask.state is AskState.POSTING or late) and ask.placeholder_post_id is None:
            self._settle(ask)
            if found := self._own_reply(ask):
                self._done(self._ledger.posted(ask, reply_post_id=found.id, reply_post_number=found.post_number))
                return None
        mode = "live" if ask.approved else config.bot.mode
        if mode == "off":
            return self._finish(ask, AskState.DISCARDED, "mode off")
        if mode == "live" and ask.kind == NEW_TOPIC and config.new_topics.how == "draft" and not ask.approved:
            mode = "draft"
        if mode == "shadow":
            return self._finish(ask, AskState.SHADOWED, "mode shadow")
        # A placeholder is a public post: no draft is edited into it.
        if mode == "draft" and (config.bot.draft_as == "page" or ask.placeholder_post_id is not None):
            return self._finish(ask, AskState.DRAFT, _ON_THE_PAGE)
        return self._checked(ask, config) or self._send(ask, config, whisper=mode == "draft")

    def _checked(self, ask: Ask, config: Config) -> Ask | None:
        """A last look at the question and the sources; the ask when it must be answered anew or has ended."""
        try:
            found = self._forum.post(ask.post_id)
        except RemoteRefused as error:
            if error.status not in _GONE:
                raise
            return self._finished(ask, AskState.DISCARDED, "the question was deleted")
        post = found.post
        meant = addressed(
            found,
            bot_username=config.forum.bot_username,
            deny_usernames=config.bot.deny_usernames,
            group_mentions=config.bot.group_mentions,
            replies_to_bot=ask.kind == "reply",
            personas=config.usernames[1:],
            replied_persona=ask.persona,
        )
        if ask.kind == NEW_TOPIC and meant:
            # An edit asks us; its delivery, which is on its way, says so in the ledger.
            return self._ledger.again(ask, "the opening post asks us now")
        if ask.kind == NEW_TOPIC and meant.reason == NO_MENTION:
            if somebody_answered(self._forum, found, config):
                return self._finished(ask, AskState.DECLINED, "somebody has answered already")
        elif not meant:
            gone = meant.reason == "deleted or hidden"
            return self._finished(ask, AskState.DISCARDED if gone else AskState.DECLINED, meant.reason)
        question = own_question(post.cooked, self._account(ask))
        if question != ask.question and post.updated_at > ask.form:
            return self._ledger.reworded(ask, question=question, version=post.version, form=post.updated_at)
        # The index costs the forum nothing, so it is asked first.
        cited, thread = self._cited(ask), thread_of(ask.topic_id, ask.category_id, config)
        if set(cited) - self._ledger.public_texts(cited, thread).keys():
            return self._ledger.again(ask, "not every reader of the topic may read a source any more")
        gone_sources = [post_id for post_id in cited if not self._stands(post_id)]
        if gone_sources:
            self._withdraw_sources(gone_sources)
            return self._ledger.again(ask, "a source was deleted while the answer was made")
        return None

    def _send(self, ask: Ask, config: Config, *, whisper: bool) -> Ask | None:
        raw = ask.reply_raw or ""
        if self._ledger.said_lately(ask, raw) or ask.note.startswith(_ALONE):
            raw = told_apart(raw, f"{ask.post_id}.{ask.tries}")
        if self._ledger.links_refused_lately():
            raw = with_few_links(raw, _FEW_LINKS)
        outcome = AskState.DRAFT if whisper else ask.outcome
        sent = self._ledger.posting(ask, reply_raw=fitted(raw), outcome=outcome)
        if sent is None:
            return self._ledger.anew(ask)
        try:
            created = self._written(sent, whisper=whisper)
        except RemoteRefused as error:
            return self._refused(sent, error, config, whisper=whisper)
        if created.post is None:
            return self._finish(
                sent,
                AskState.ENQUEUED,
                "waits for the moderators' approval",
                next_try_at=self._now() + _FIRST_FOLLOW_UP,
            )
        return self._done(
            self._ledger.posted(sent, reply_post_id=created.post.id, reply_post_number=created.post.post_number)
        )

    def _written(self, ask: Ask, *, whisper: bool) -> Created:
        raw = ask.reply_raw or ""
        if ask.placeholder_post_id is not None:
            return Created(post=self._forum.acting_as(ask.persona).edit_post(ask.placeholder_post_id, raw=raw))
        return self._forum.acting_as(ask.persona).create_post(
            topic_id=ask.topic_id, raw=raw, reply_to_post_number=ask.post_number, whisper=whisper
        )

    def _refused(self, ask: Ask, error: RemoteRefused, config: Config, *, whisper: bool) -> Ask | None:
        """A refusal is final, but for one shorter try where a new account may not put so many links."""
        POST_FAILURES.labels(kind="refused").inc()
        raw = ask.reply_raw or ""
        if error.status == 422 and self._ledger.said_lately(ask, raw):
            # Two replies of the same words left at the same moment: this one is told apart now.
            apart = self._ledger.not_posted(ask)
            return self._send(apart, config, whisper=whisper) if apart else None
        if error.status == 422 and count_links(raw) > _FEW_LINKS:
            self._ledger.note(ask, f"links limited: {error} Raise the trust level of @{self._account(ask)}.")
            shorter = self._ledger.not_posted(ask)
            return self._send(shorter, config, whisper=whisper) if shorter else None
        if error.status == 422 and talks_alone(self._forum, ask.topic_id, account=self._account(ask)):
            # max_consecutive_replies: nobody but staff may go on; somebody's post lets the next reply in. The next
            # try has another text, since for two minutes the forum answers the same one with the same refusal.
            self._ledger.not_posted(ask)
            wait = min(15.0 * 2 ** min(ask.tries - 1, 5), 300.0)
            self._wait(ask, RemoteUnavailable(f"{_ALONE}: {error}"), wait)
            return None
        if error.status in (403, 422):
            topic = self._forum.topic(ask.topic_id)
            if topic.closed or topic.archived:
                return self._finish(ask, AskState.DECLINED, "the topic was closed before the reply")
        if error.status == 403 and whisper:
            self._say_no_whispers(ask)
            return self._finish(ask, AskState.DRAFT, _ON_THE_PAGE)
        if error.status in _GONE and ask.placeholder_post_id is not None:
            # What the reply was to be edited into is gone, or too old for it.
            self._ledger.placeholder(ask, None)
            bare = self._ledger.not_posted(ask)
            return self._send(bare, config, whisper=whisper) if bare else None
        if error.status in (404, 410):
            return self._finish(ask, AskState.DISCARDED, "the topic or the question is gone")
        return self._finish(ask, AskState.FAILED, str(error))

    def _say_no_whispers(self, ask: Ask) -> None:
        account, mend = self._account(ask), "make it a moderator, or set bot.draft_as: page"
        self._ledger.note(ask, f"@{account} may not whisper: {mend}.")
        if account not in self._may_not_whisper:
            self._may_not_whisper.add(account)
            log.warning("may_not_whisper", account=account, mend=mend)

    @property
    def _settle_s(self) -> float:
        """Never shorter than a request of ours may take."""
        config = self._config()
        return max(config.bot.settle_s, config.forum.timeout_s)

    def _settle(self, ask: Ask) -> None:
        """A request whose answer was lost may still be at work in the forum: give it time before looking."""
        settle_s = self._settle_s
        since = (self._now() - ask.posting_at).total_seconds() if ask.posting_at else settle_s
        if since < settle_s:
            raise TryLater(settle_s - since + 0.1, "waits until a lost answer has settled")

    def _own_reply(self, ask: Ask, *, placeholders: bool = False) -> Post | None:
        whisper = self._config().bot.mode == "draft" and not ask.approved
        account = self._account(ask)
        return own_reply(self._forum, ask, account=account, whisper=whisper, placeholders=placeholders)

    def _account(self, ask: Ask) -> str:
        """Who writes the reply."""
        return ask.persona or self._config().forum.bot_username

    def _cited(self, ask: Ask) -> list[int]:
        return self._ledger.cited_posts(ask.trace_id) if ask.trace_id else []

    def _stands(self, post_id: int) -> bool:
        try:
            post = self._forum.post(post_id).post
        except RemoteRefused as error:
            if error.status in _GONE:
                return False
            raise
        return not (post.deleted_at or post.hidden or post.user_deleted)

    def _wait(self, ask: Ask, error: RemoteUnavailable, seconds: float) -> None:
        if self._now() - ask.created_at > _GIVE_UP:
            self._finish(ask, AskState.FAILED, f"the forum did not take the reply for a day: {error}")
            return
        self._ledger.note(ask, str(error), self._now() + timedelta(seconds=seconds))
        raise TryLater(seconds, str(error)) from error

    def _finish(self, ask: Ask, state: AskState, reason: str, *, next_try_at: datetime | None = None) -> Ask | None:
        self._finished(ask, state, reason, next_try_at=next_try_at)
        return None

    def _finished(self, ask: Ask, state: AskState, reason: str, *, next_try_at: datetime | None = None) -> Ask | None:
        ended = self._ledger.finish(ask, state, reason, next_try_at=next_try_at)
        if ended is not None and ended.placeholder_post_id is not None:
            # Nothing will be edited into it any more.
            with suppress(RemoteError):
                self._forum.acting_as(ended.persona).delete_post(ended.placeholder_post_id)
        return self._done(ended, keep=True)

    def _done(self, ask: Ask | None, *, keep: bool = False) -> Ask | None:
        if ask is not None:
            ASKS.labels(state=ask.state.value).inc()
            log.info("ask_ended", post=ask.post_id, state=ask.state.value, reason=ask.reason, reply=ask.reply_post_id)
        return ask if keep else None
