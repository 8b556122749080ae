"""The ledger: one row an asking post, moved on only by the worker that holds its lease."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from clients.postgres.pool import Connection, Database
from clients.postgres.queries import queries
from clients.postgres.statements import Statements
from forum.addressed import WITHDRAWN
from forum.ask import NEW_TOPIC, Ask, Asking, AskState
from forum.types import Post, Thread

_ASK_FIELDS = {field.name for field in fields(Ask)}


class Ledger:
    """Each method is one short statement or transaction; none is held while a remote service works.

    A method that moves an ask returns it as it is now, or None when it has moved on otherwise.
    Raises DatabaseUnavailable.
    """

    def __init__(self, database: Database) -> None:
        self._sql = queries("ledger")
        statements = Statements(database, "ledger")
        self._all, self._run = statements.all, statements.run

    # What comes in, on the caller's transaction

    def record(self, connection: Connection, asking: Asking) -> bool:
        """Open an ask or bring it to a newer form; True when it waits and needs a job (which it may have)."""
        values = {**asdict(asking), "withdrawn": list(WITHDRAWN)}
        if asking.post_number == 1 and asking.kind != NEW_TOPIC:
            connection.execute(self._sql["asked_after_all"], values)
        row = connection.execute(self._sql["record"], values).fetchone()
        return row is not None and bool(row[0])

    def withdraw(
        self,
        connection: Connection,
        post_ids: Sequence[int],
        *,
        state: AskState,
        reason: str,
        form: datetime | None = None,
        unasked: bool = True,
    ) -> list[int]:
        """End asks whose question is gone or asks us no longer; with `form`, only those of an older form.

        `unasked` False: not the new topics, which never asked.
        """
        values = {"post_ids": list(post_ids), "state": state.value, "reason": reason, "form": form, "unasked": unasked}
        return [row[0] for row in connection.execute(self._sql["withdraw"], values)]

    def withdraw_topic(self, connection: Connection, topic_id: int) -> None:
        """The whole topic is gone."""
        connection.execute(self._sql["withdraw_topic"], {"topic_id": topic_id})

    def scrub_question(self, connection: Connection, post_ids: Sequence[int]) -> None:
        """Forget the words of questions that were deleted."""
        connection.execute(self._sql["scrub_question"], {"post_ids": list(post_ids)})

    def turn(self, connection: Connection, user_id: int | None) -> int:
        """How many questions of this member wait already."""
        row = connection.execute(self._sql["waiting_of_member"], {"user_id": user_id}).fetchone()
        return int(row[0]) if row else 0

    def persona_of_reply(self, connection: Connection, topic_id: int, post_number: int) -> str | None:
        """Which account of ours wrote the post with this number; None when none did."""
        values = {"topic_id": topic_id, "post_number": post_number}
        row = connection.execute(self._sql["replied_by_bot"], values).fetchone()
        return None if row is None else str(row[0])

    def has_reply(self, connection: Connection, post_id: int) -> bool:
        return connection.execute(self._sql["has_reply"], {"post_id": post_id}).fetchone() is not None

    def saw_own_reply(
        self, connection: Connection, *, topic_id: int, post_number: int, reply: Post, whisper: bool
    ) -> None:
        """`reply`, a post of the bot, answers the post `post_number` of the topic."""
        connection.execute(
            self._sql["saw_own_reply"],
            {
                "topic_id": topic_id,
                "post_number": post_number,
                "reply_post_id": reply.id,
                "reply_post_number": reply.post_number,
                "whisper": whisper,
            },
        )

    def is_stray(self, connection: Connection, topic_id: int, post_number: int, *, placeholder_post_id: int) -> bool:
        """Whether nothing will be edited into this placeholder, which replies to that post."""
        values = {"topic_id": topic_id, "post_number": post_number, "placeholder_post_id": placeholder_post_id}
        return connection.execute(self._sql["is_stray"], values).fetchone() is not None

    # One ask on its way

    def load(self, post_id: int) -> Ask | None:
        return self._one("load", post_id=post_id)

    def by_reply(self, reply_post_id: int) -> Ask | None:
        return self._one("by_reply", post_id=reply_post_id)

    def by_reply_number(self, topic_id: int, post_number: int) -> Ask | None:
        return self._one("by_reply_number", topic_id=topic_id, post_number=post_number)

    def begin(self, post_id: int) -> Ask | None:
        return self._one("begin", post_id=post_id)

    def ready(
        self,
        ask: Ask,
        *,
        reply_raw: str,
        outcome: AskState = AskState.POSTED,
        trace_id: str | None = None,
        degraded: Sequence[str] = (),
        reason: str = "",
    ) -> Ask | None:
        return self._one(
            "ready",
            post_id=ask.post_id,
            lease=ask.lease,
            question=ask.question,
            kind=ask.kind,
            reply_raw=reply_raw,
            outcome=outcome.value,
            trace_id=trace_id,
            degraded=list(degraded),
            reason=reason,
        )

    def anew(self, ask: Ask) -> Ask | None:
        """The ask when its question was edited under the worker's hands; None when somebody else has it."""
        now = self.load(ask.post_id)
        return now if now is not None and now.lease == ask.lease and now.state is AskState.ANSWERING else None

    def again(self, ask: Ask, reason: str) -> Ask | None:
        return self._one("again", post_id=ask.post_id, lease=ask.lease, reason=reason)

    def reworded(self, ask: Ask, *, question: str, version: int, form: datetime) -> Ask | None:
        """The asking post says something else now: back to answering."""
        return self._one(
            "reworded", post_id=ask.post_id, lease=ask.lease, question=question, version=version, form=form
        )

    def posting(self, ask: Ask, *, reply_raw: str, outcome: AskState) -> Ask | None:
        """The fence before the reply is sent; None when the ask is no longer ours or no longer the same question."""
        return self._one(
            "posting",
            post_id=ask.post_id,
            lease=ask.lease,
            question=ask.question,
            reply_raw=reply_raw,
            outcome=outcome.value,
        )

    def placeholding(self, ask: Ask) -> Ask | None:
        """The fence before the placeholder is sent."""
        return self._one("placeholding", post_id=ask.post_id, lease=ask.lease)

    def placeholder(self, ask: Ask, post: Post | None) -> Ask | None:
        """Where the placeholder stands, or that it certainly does not."""
        return self._one(
            "placeholder",
            post_id=ask.post_id,
            placeholder_post_id=post.id if post else None,
            placeholder_post_number=post.post_number if post else None,
        )

    def not_posted(self, ask: Ask) -> Ask | None:
        """The forum certainly did not take the reply."""
        return self._one("not_posted", post_id=ask.post_id, lease=ask.lease)

    def posted(self, ask: Ask, *, reply_post_id: int, reply_post_number: int) -> Ask | None:
        return self._one(
            "posted", post_id=ask.post_id, reply_post_id=reply_post_id, reply_post_number=reply_post_number
        )

    def finish(self, ask: Ask, state: AskState, reason: str = "", *, next_try_at: datetime | None = None) -> Ask | None:
        return self._one(
            "finish",
            post_id=ask.post_id,
            lease=ask.lease,
            state=state.value,
            reason=reason,
            next_try_at=next_try_at,
        )

    def note(self, ask: Ask, note: str, next_try_at: datetime | None = None) -> None:
        """The obstacle that keeps the ask waiting."""
        self._run("note", post_id=ask.post_id, lease=ask.lease, note=note, next_try_at=next_try_at)

    def rewritten(self, ask: Ask, reply_raw: str, reason: str) -> None:
        self._run("rewritten", post_id=ask.post_id, reply_raw=reply_raw, reason=reason)

    # Drafts

    def approve(self, post_id: int, *, reply_raw: str | None = None, by: str = "") -> Ask | None:
        """Let a draft out; the caller defers its job."""
        return self._one("approve", post_id=post_id, reply_raw=reply_raw, reason=f"approved by {by}" if by else "")

    def discard(self, post_id: int, *, by: str = "") -> Ask | None:
        return self._one("discard", post_id=post_id, reason=f"discarded by {by}" if by else "discarded")

    def said_lately(self, ask: Ask, reply_raw: str) -> bool:
        return bool(self._all("said_lately", post_id=ask.post_id, reply_raw=reply_raw))

    def links_refused_lately(self) -> bool:
        return bool(self._all("links_refused_lately"))

    # Following up

    def stranded(self) -> list[tuple[int, int, int | None]]:
        """(post, topic, member) of open asks that no job moves on."""
        return [(row["post_id"], row["topic_id"], row["user_id"]) for row in self._all("stranded")]

    def enqueued_due(self) -> list[Ask]:
        return [_ask(row) for row in self._all("enqueued_due")]

    def follow_up(self, ask: Ask, next_try_at: datetime) -> None:
        self._run("follow_up", post_id=ask.post_id, next_try_at=next_try_at)

    def resting_on(self, post_ids: Sequence[int]) -> list[int]:
        """The asking posts whose standing replies cite one of these posts."""
        return [row["post_id"] for row in self._all("resting_on", post_ids=list(post_ids))]

    def trace_of(self, post_id: int) -> dict[str, Any] | None:
        """The newest trace of an asking post."""
        rows = self._all("trace_of", post_id=post_id)
        return rows[0]["body"] if rows else None

    def cited_posts(self, trace_id: str) -> list[int]:
        return [row["post_id"] for row in self._all("cited_posts", trace_id=trace_id)]

    def concerned_by_topics(self, topic_ids: Collection[int]) -> list[int]:
        """The asking posts whose standing replies stand in one of these topics or cite a post of one."""
        return [row["post_id"] for row in self._all("concerned_by_topics", ids=sorted(topic_ids))]

    def concerned_by_categories(self, category_ids: Collection[int]) -> list[int]:
        """The asking posts whose standing replies stand in one of these categories or cite a post of one."""
        return [row["post_id"] for row in self._all("concerned_by_categories", ids=sorted(category_ids))]

    def public_texts(self, post_ids: Sequence[int], thread: Thread | None = None) -> dict[int, str]:
        """The clean text of those of the posts that every reader of the thread (None: everyone) may read now."""
        rows = self._all("public_texts", thread, post_ids=list(post_ids))
        return {row["id"]: row["text"] for row in rows}

    def public_post(self, topic_id: int, post_number: int, thread: Thread | None = None) -> dict[str, Any] | None:
        """username, text and reply_to_post_number of a post that every reader of the thread may read."""
        rows = self._all("public_post", thread, topic_id=topic_id, post_number=post_number)
        return rows[0] if rows else None

    def scrub_sources(self, post_ids: Sequence[int]) -> None:
        """Take the words of deleted posts out of every stored trace."""
        self._run("scrub_sources", post_ids=list(post_ids))

    def like(self, reply_post_id: int, user_id: int | None) -> None:
        """Somebody liked a post; kept when it is a reply of ours."""
        self._run("like", post_id=reply_post_id, user_id=user_id)

    def forget(self, *, receipts_days: int, traces_days: int) -> None:
        self._run("forget", receipts_days=receipts_days, traces_days=traces_days)

    # What others ask of it

    def set_health(self, name: str, state: str, detail: str = "") -> None:
        self._run("set_health", name=name, state=state, detail=detail)

    def health(self) -> list[dict[str, Any]]:
        """Name, state, detail and age in seconds of what the worker reports."""
        return self._all("health")

    def waiting(self) -> tuple[int, float]:
        """How many asks are open, and the age of the oldest in seconds."""
        row = self._all("waiting")[0]
        return int(row["count"]), float(row["oldest_s"])

    def counts(self) -> dict[str, int]:
        return {row["state"]: row["count"] for row in self._all("counts")}

    def _one(self, name: str, /, **values: Any) -> Ask | None:
        rows = self._all(name, **values)
        return _ask(rows[0]) if rows else None


def _ask(row: dict[str, Any]) -> Ask:
    values = {key: value for key, value in row.items() if key in _ASK_FIELDS}
    values["state"] = AskState(values["state"])
    values["outcome"] = AskState(values["outcome"])
    values["degraded"] = tuple(values["degraded"])
    return Ask(**values)
