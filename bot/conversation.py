"""The reply chain above a question: what members and the bot said before, within a token budget."""

from __future__ import annotations

from typing import Any

from bot.scope import thread_of
from clients.postgres.ledger import Ledger
from forum.ask import Ask
from forum.config import Config
from forum.types import Thread, Turn
from forum.unicode_safety import grapheme_cut

#: Four characters are about a token.
_CHARACTERS_A_TOKEN = 4
_LONGEST_CHAIN = 20


def conversation(ask: Ask, ledger: Ledger, config: Config) -> tuple[Turn, ...]:
    """Oldest first. Follows reply_to_post_number upwards: a reply of the bot leads to the question that it answered,
    a member's post counts while every reader of the thread may read it. The oldest turns go when the budget of
    `bot.conversation_tokens` is used up."""
    turns: list[Turn] = []
    left = config.bot.conversation_tokens * _CHARACTERS_A_TOKEN
    thread = thread_of(ask.topic_id, ask.category_id, config)
    number = ask.reply_to_post_number
    while number is not None and left > 0 and len(turns) < _LONGEST_CHAIN:
        step, number = _above(ask.topic_id, number, ledger, thread)
        for turn in step:
            text = turn.text[: grapheme_cut(turn.text, left)]
            left -= len(text)
            if text:
                turns.append(Turn(author=turn.author, text=text, is_bot=turn.is_bot, cited=turn.cited))
    return tuple(reversed(turns))


def _above(topic_id: int, number: int, ledger: Ledger, thread: Thread | None) -> tuple[list[Turn], int | None]:
    """What stands at this place of the topic, newest first, and the place that it replies to."""
    if (earlier := ledger.by_reply_number(topic_id, number)) is not None:
        text, cited = _answer(ledger.trace_of(earlier.post_id))
        answered = Turn(author="bot", text=text, is_bot=True, cited=cited)
        return [answered, Turn(author=earlier.username, text=earlier.question)], earlier.reply_to_post_number
    if (post := ledger.public_post(topic_id, number, thread)) is not None:
        return [Turn(author=post["username"], text=post["text"])], post["reply_to_post_number"]
    return [], None


def _answer(trace: dict[str, Any] | None) -> tuple[str, tuple[str, ...]]:
    if trace is None:
        return "", ()
    cited = tuple(
        f"post:{c['post_id']}" for c in trace.get("citations", ()) if isinstance(c, dict) and c.get("post_id")
    )
    return str(trace.get("answer", "")), cited
