"""How many questions are answered: by member, by trust level, by topic; and no conversation between two machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from clients.postgres.asked_before import AskedBefore
from forum.ask import Ask
from forum.config_section import LimitsSection

_WINDOW = timedelta(hours=1)
#: Nobody reads an answer and writes the next question this fast, several times in a row.
_TOO_FAST_FOR_A_HUMAN = timedelta(seconds=90)


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnedAway:
    """`reason` is limit:member, limit:topic or loop; `reset_at` says when the next question is taken, if it is told."""

    reason: str
    limit: int
    reset_at: datetime | None = None


def turned_away(ask: Ask, before: AskedBefore, limits: LimitsSection) -> TurnedAway | None:
    """None: the question is answered. Counts only questions that came before this one, whatever the order of work."""
    if _is_loop(before.last_replies(ask, limits.replies_in_a_row), ask, limits.replies_in_a_row):
        return TurnedAway(reason="loop", limit=limits.replies_in_a_row)
    by_member = min(
        limits.per_member_per_hour, limits.per_trust_level.get(_level(ask.trust_level), limits.per_member_per_hour)
    )
    counted = (
        ("limit:member", by_member, before.asked_by_member(ask, by_member)),
        ("limit:topic", limits.per_topic_per_hour, before.asked_in_topic(ask, limits.per_topic_per_hour)),
    )
    for reason, limit, asked in counted:
        if len(asked) >= limit:
            told = before.told_of_limit(ask, reason)
            return TurnedAway(
                reason=reason, limit=limit, reset_at=None if told else (asked or [ask.created_at])[-1] + _WINDOW
            )
    return None


def _level(trust_level: int | None) -> int:
    return -1 if trust_level is None else trust_level


def _is_loop(replies: Sequence[tuple[int | None, datetime, datetime]], ask: Ask, limit: int) -> bool:
    """Our last `limit` replies in the topic all went to this account, and each of its posts followed at once."""
    if len(replies) < limit:
        return False
    following = ask.asked_at
    for asker, asked_at, posted_at in replies:
        if asker != ask.user_id or following - posted_at > _TOO_FAST_FOR_A_HUMAN:
            return False
        following = asked_at
    return True
