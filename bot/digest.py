"""The weekly report to the staff: what was asked, what could not be answered, what was disliked."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import structlog

from bot.pages.wording import words
from clients.postgres.gap_store import GapStore
from clients.postgres.page_store import PageStore, Row
from forum.config import Config
from forum.errors import OutcomeUnknown, RemoteError
from forum.ports import ForumClient
from forum.unicode_safety import one_line

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_GAPS = 10

log = structlog.get_logger("threadcite.digest")


class Digest:
    """Writes at most one topic a week: a week whose outcome is unknown is left alone rather than written twice."""

    def __init__(
        self,
        store: GapStore,
        pages: PageStore,
        forum: ForumClient,
        config: Callable[[], Config],
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store, self._pages, self._forum, self._config, self._now = store, pages, forum, config, now

    def write(self) -> None:
        """On the chosen day, once; the topic goes into the staff's category."""
        config, today = self._config(), self._now().date()
        section = config.digest
        if not section.enabled or section.category_id is None or config.bot.mode == "off":
            return
        if today.weekday() != _DAYS.index(section.weekday) or not self._store.begin_digest(today):
            return
        title, raw = self.report(config)
        try:
            topic_id = self._forum.create_topic(title=title, raw=raw, category_id=section.category_id)
        except OutcomeUnknown as error:
            log.warning("digest_outcome_unknown", reason=str(error))
        except RemoteError as error:
            self._store.end_digest(today, None)
            log.warning("digest_not_written", reason=str(error))
        else:
            self._store.end_digest(today, topic_id)
            log.info("digest_written", topic=topic_id)

    def report(self, config: Config) -> tuple[str, str]:
        """Title and Markdown of the week that ends now, in the forum's own language."""
        now, language = self._now(), config.forum.default_language
        states, kinds, disliked = self._store.week(now - timedelta(days=7))
        gaps = self._pages.gaps(state="open", limit=_GAPS)

        def say(key: str, **fields: object) -> str:
            return words(f"digest.{key}", language, **fields)

        answered = states.get("posted", 0) + states.get("shadowed", 0) + states.get("draft", 0)
        lines = [
            say("asked", n=sum(states.values())),
            f"- {say('answered', n=answered)}",
            f"- {say('unanswered', n=states.get('abstained', 0))}",
            f"- {say('declined', n=states.get('declined', 0))}",
            f"- {say('liked', n=kinds.get('like', 0))}",
            f"- {say('disliked', n=kinds.get('dislike', 0))}",
            "",
            f"## {say('gaps')}",
            *([_linked(row, row["post_number"], config, f" ({row['questions']})") for row in gaps] or [say("none")]),
            "",
            f"## {say('wrong')}",
            *([_linked(row, row["reply_post_number"], config) for row in disliked] or [say("none")]),
        ]
        return say("title", day=f"{now:%Y-%m-%d}"), "\n".join(lines)


def _linked(row: Row, number: int, config: Config, after: str = "") -> str:
    """A question as a link to where it stands; what members wrote cannot make a link or a mention of its own."""
    text = one_line(row["question"] or row["title"], 120)
    quiet = "".join(f"\\{sign}" if sign in "\\`*_{}[]()#+!|<>~^:&" else sign for sign in text).replace("@", "@\u200b")
    return f"- [{quiet}]({config.forum.base_url}/t/{row['topic_id']}/{number}){after}"
