"""Chat with an LLM through Ollama: the context window is stated, and a prompt that was cut is noticed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import httpx
import stamina

from clients.breaker import Breaker
from clients.ollama_connection import connect, is_busy, keep_alive, told_plainly
from clients.prompt_cut import refuse_if_cut
from clients.tool_calls import described
from forum.config import LlmSection
from forum.errors import ConfigError
from forum.ports import ChatReply, Message, Tool
from forum.unicode_safety import safe

if TYPE_CHECKING:
    import ollama

#: A server that is busy or restarting is asked again after half a second, then a second or two.
_ATTEMPTS, _PAUSE_S, _LONGEST_PAUSE_S = 3, 0.5, 5.0


class OllamaChat:
    """Raises RemoteUnavailable or RemoteRefused; a reply that was written without its rules is refused."""

    def __init__(self, section: LlmSection, *, transport: httpx.BaseTransport | None = None) -> None:
        if not section.model:
            raise ConfigError("llm.model: name the model that Ollama serves, e.g. qwen3:30b-a3b-q6k.")
        self._section = section
        self._transport = transport
        self._client = self._connected(section.timeout_s)
        self._breaker = Breaker("ollama")

    @property
    def model_id(self) -> str:
        return f"ollama/{self._section.model}"

    @property
    def context_tokens(self) -> int:
        return self._section.num_ctx

    def chat(
        self,
        messages: Sequence[Message],
        *,
        timeout_s: float,
        max_tokens: int = 1024,
        temperature: float = 0.0,
        tools: Sequence[Tool] = (),
    ) -> ChatReply:
        """One reply. `timeout_s` bounds the whole call; the answer of a reasoning model comes without its thinking."""
        for attempt in stamina.retry_context(
            on=is_busy, attempts=_ATTEMPTS, wait_initial=_PAUSE_S, wait_max=_LONGEST_PAUSE_S, timeout=timeout_s
        ):
            with attempt:
                return self._once(messages, timeout_s, max_tokens, temperature, tools)
        raise AssertionError("stamina returns or raises")

    def _once(
        self,
        messages: Sequence[Message],
        timeout_s: float,
        max_tokens: int,
        temperature: float,
        tools: Sequence[Tool],
    ) -> ChatReply:
        section = self._section
        client = self._client if timeout_s == section.timeout_s else self._connected(timeout_s)
        with self._breaker.guard(), told_plainly(section.model):
            reply = client.chat(
                model=section.model,
                messages=[{"role": m.role, "content": safe(m.content)} for m in messages],
                tools=described(tools) or None,
                think=section.think,
                stream=False,
                options={
                    "num_ctx": section.num_ctx,
                    "num_predict": max_tokens,
                    "temperature": temperature,
                    "seed": 0,
                },
                keep_alive=keep_alive(section.keep_alive),
            )
        refuse_if_cut(messages, reply.prompt_eval_count, service="ollama")
        return ChatReply(
            text=_spoken(safe(reply.message.content or "")),
            done_reason=reply.done_reason or "stop",
            prompt_tokens=reply.prompt_eval_count,
            output_tokens=reply.eval_count,
            tools=tuple(safe(one.function.name) for one in reply.message.tool_calls or ()),
        )

    def _connected(self, timeout_s: float) -> ollama.Client:
        return connect(self._section.url, timeout_s=timeout_s, transport=self._transport, whole_prompts=True)


def _spoken(text: str) -> str:
    """What follows the thinking, where a model writes it into its answer."""
    return text.rpartition("</think>")[2].strip() if "</think>" in text else text.strip()
