"""The reply chain above a question: what the member and the bot said before, within a token budget."""

from __future__ import annotations

from typing import Any

from clients.postgres.ledger import Ledger
from forum.ask import Ask
from forum.types import Turn

#: Four characters are about a token.
_CHARACTERS_A_TOKEN = 4
_LONGEST_CHAIN = 10


def conversation(ask: Ask, ledger: Ledger, *, budget_tokens: int) -> tuple[Turn, ...]:
    """Oldest first. Follows reply_to_post_number upwards: a bot's reply to the ask that it answered, and so on."""
    turns: list[Turn] = []
    left = budget_tokens * _CHARACTERS_A_TOKEN
    topic_id, number = ask.topic_id, ask.reply_to_post_number
    for _ in range(_LONGEST_CHAIN):
        earlier = ledger.by_reply_number(topic_id, number) if number is not None else None
        if earlier is None:
            break
        answer, cited = _answer(ledger.trace_of(earlier.post_id))
        pair = [
            Turn(author="bot", text=answer, is_bot=True, cited=cited),
            Turn(author=earlier.username, text=earlier.question),
        ]
        for turn in pair:
            if not turn.text:
                continue
            if len(turn.text) > left:
                return tuple(reversed(turns))
            left -= len(turn.text)
            turns.append(turn)
        number = earlier.reply_to_post_number
    return tuple(reversed(turns))


def _answer(trace: dict[str, Any] | None) -> tuple[str, tuple[str, ...]]:
    if trace is None:
        return "", ()
    cited = tuple(
        f"post:{c['post_id']}" for c in trace.get("citations", ()) if isinstance(c, dict) and c.get("post_id")
    )
    return str(trace.get("answer", "")), cited
