"""A row of the ledger as the question that the stages answer."""

from __future__ import annotations

from datetime import datetime

from bot.conversation import conversation
from clients.postgres.ledger import Ledger
from forum.ask import NEW_TOPIC, Ask
from forum.config import Config
from forum.types import Question


def asked_question(ask: Ask, ledger: Ledger, config: Config, *, now: datetime) -> Question:
    """The member's words with the reply chain above them."""
    return Question(
        text=ask.question,
        title=ask.title,
        asked_at=now,
        post_id=ask.post_id,
        topic_id=ask.topic_id,
        asker=ask.username,
        category_id=ask.category_id,
        conversation=conversation(ask, ledger, config),
        persona=ask.persona,
        opening=ask.kind == NEW_TOPIC,
        below=ask.post_number > 1,
    )
