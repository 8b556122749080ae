"""What was asked and answered before a question: what the limits count."""

from __future__ import annotations

from datetime import datetime

from clients.postgres.pool import Database
from clients.postgres.statements import Statements
from forum.ask import Ask


class AskedBefore:
    """Each method looks only at what came before the ask. Raises DatabaseUnavailable."""

    def __init__(self, database: Database) -> None:
        self._all = Statements(database, "asked_before").all

    def asked_by_member(self, ask: Ask, limit: int) -> list[datetime]:
        """When the member asked within the last hour, newest first, at most `limit`."""
        return self._answered("answered_of_member", ask, limit, user_id=ask.user_id)

    def asked_in_topic(self, ask: Ask, limit: int) -> list[datetime]:
        return self._answered("answered_in_topic", ask, limit, topic_id=ask.topic_id)

    def told_of_limit(self, ask: Ask, reason: str) -> bool:
        values = {
            "post_id": ask.post_id,
            "reason": reason,
            "topic_id": ask.topic_id,
            "user_id": ask.user_id,
            "persona": ask.persona,
        }
        return bool(self._all("told_of_limit", **values))

    def last_replies(self, ask: Ask, limit: int) -> list[tuple[int | None, datetime, datetime]]:
        """(asker, asked at, posted at) of our newest replies in the topic."""
        rows = self._all("last_replies", topic_id=ask.topic_id, post_id=ask.post_id, limit=limit)
        return [(row["user_id"], row["asked_at"], row["posted_at"]) for row in rows]

    def _answered(self, name: str, ask: Ask, limit: int, **of: int | None) -> list[datetime]:
        values = {"persona": ask.persona, "post_id": ask.post_id, "before": ask.created_at, "limit": limit}
        return [row["created_at"] for row in self._all(name, **values, **of)]
