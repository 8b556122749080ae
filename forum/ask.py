"""A question to the bot as the ledger keeps it: one row an asking post, and the states that it passes through.

queued -> answering -> ready -> posting -> posted | abstained | declined | draft
                         |         +-> enqueued (waits for approval at the forum) -> posted
                         +-> shadowed (mode shadow), draft (mode draft), discarded (the question is gone, mode off)
Any state before `posting` may end as `declined` (not for us, over a limit), `discarded` or `failed`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class AskState(StrEnum):
    """Where an ask stands."""

    QUEUED = "queued"
    ANSWERING = "answering"
    READY = "ready"
    POSTING = "posting"
    ENQUEUED = "enqueued"
    POSTED = "posted"
    DRAFT = "draft"
    SHADOWED = "shadowed"
    DECLINED = "declined"
    ABSTAINED = "abstained"
    DISCARDED = "discarded"
    FAILED = "failed"


#: The kind of an ask that nobody asked: a member opened a topic.
NEW_TOPIC = "topic"

#: States in which a worker still has something to do.
OPEN_STATES = (AskState.QUEUED, AskState.ANSWERING, AskState.READY, AskState.POSTING)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asking:
    """What a delivery tells about a post that asks the bot."""

    post_id: int
    topic_id: int
    post_number: int
    user_id: int | None = None
    username: str = ""
    trust_level: int | None = None
    category_id: int | None = None
    title: str = ""
    #: mention, reply, or NEW_TOPIC.
    kind: str = "mention"
    #: Whose account is asked; "" is the bot itself.
    persona: str = ""
    #: The member's own words without the mention, clean and untrusted.
    question: str = ""
    reply_to_post_number: int | None = None
    version: int = 1
    asked_at: datetime
    #: The asking post's `updated_at`: an older form never replaces a newer one.
    form: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Ask(Asking):
    """A row of the ledger."""

    state: AskState
    reason: str = ""
    #: The last obstacle on the way, for the operator.
    note: str = ""
    #: Grows each time that a worker takes the ask up: only the last holder may move it on.
    lease: int = 0
    tries: int = 0
    #: The state that the reply leads to once it stands in the topic.
    outcome: AskState = AskState.POSTED
    #: A person approved the draft: it is posted whatever the mode.
    approved: bool = False
    reply_raw: str | None = None
    reply_post_id: int | None = None
    reply_post_number: int | None = None
    #: The "looking..." that the reply is edited into.
    placeholder_post_id: int | None = None
    placeholder_post_number: int | None = None
    #: When the last attempt to post began.
    posting_at: datetime | None = None
    trace_id: str | None = None
    degraded: tuple[str, ...] = ()
    created_at: datetime
    updated_at: datetime
