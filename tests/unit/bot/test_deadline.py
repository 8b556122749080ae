"""All calls of one answer to the LLM together keep the deadline."""

from __future__ import annotations

import pytest

from bot.deadline import _UntilThen
from forum.errors import RemoteUnavailable
from forum.ports import ChatReply


class Slow:
    """Takes 40 seconds a call, on a clock that it moves itself."""

    model_id, context_tokens = "slow", 8192

    def __init__(self) -> None:
        self.now, self.allowed = 0.0, list[float]()

    def chat(self, messages: object, *, timeout_s: float, **_: object) -> ChatReply:
        self.allowed.append(timeout_s)
        self.now += 40
        return ChatReply(text="ok")


def test_each_call_gets_what_is_left_and_then_the_llm_counts_as_down() -> None:
    slow = Slow()
    limited = _UntilThen(slow, 100, clock=lambda: slow.now)
    for _ in range(3):
        limited.chat([], timeout_s=60)
    assert slow.allowed == [60, 60, 20]
    with pytest.raises(RemoteUnavailable):
        limited.chat([], timeout_s=60)
