"""The time that one answer may take at the LLM, over all of its calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.tools import Tools
from forum.errors import RemoteUnavailable
from forum.ports import ChatModel, ChatReply, Message, Tool


def within(tools: Tools, seconds: float) -> Tools:
    """The tools with an LLM that is down from `seconds` on: the stages then do what they do without one."""
    return tools if tools.chat is None else replace(tools, chat=_UntilThen(tools.chat, seconds))


class _UntilThen:
    """A chat model whose calls together take no longer than the deadline."""

    def __init__(self, chat: ChatModel, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._chat, self._clock = chat, clock
        self._until = clock() + seconds

    @property
    def model_id(self) -> str:
        return self._chat.model_id

    @property
    def context_tokens(self) -> int:
        return self._chat.context_tokens

    def chat(
        self,
        messages: Sequence[Message],
        *,
        timeout_s: float,
        max_tokens: int = 1024,
        temperature: float = 0.0,
        tools: Sequence[Tool] = (),
    ) -> ChatReply:
        left = self._until - self._clock()
        if left <= 0:
            raise RemoteUnavailable("The answer's time at the LLM (bot.answer_deadline_s) is used up.", service="llm")
        return self._chat.chat(
            messages,
            timeout_s=min(timeout_s, left),
            max_tokens=max_tokens,
            temperature=temperature,
            tools=tools,
        )
