"""Chat with an LLM through Ollama: the context window is stated, and a prompt that was cut is noticed."""

from __future__ import annotations

from collections.abc import Sequence

import httpx

from clients.breaker import Breaker
from clients.ollama_connection import connect, keep_alive, told_plainly
from forum.config import LlmSection
from forum.errors import ConfigError, RemoteRefused
from forum.ports import ChatReply, Message
from forum.unicode_safety import safe

#: A prompt whose count is below this share of a low estimate was cut by the server.
_CUT = 0.6
#: More characters than this to a token are rare in any language: length / 6 is a low estimate of the tokens.
_CHARACTERS = 6


class OllamaChat:
    """Raises RemoteUnavailable or RemoteRefused; a reply that was written without its rules is refused."""

    def __init__(self, section: LlmSection, *, transport: httpx.BaseTransport | None = None) -> None:
        if not section.model:
            raise ConfigError("llm.model: name the model that Ollama serves, e.g. qwen3:30b-a3b-q6k.")
        self._section = section
        self._client = connect(section.url, timeout_s=section.timeout_s, transport=transport)
        self._breaker = Breaker("ollama")

    @property
    def model_id(self) -> str:
        return f"ollama/{self._section.model}"

    @property
    def context_tokens(self) -> int:
        return self._section.num_ctx

    def chat(
        self, messages: Sequence[Message], *, timeout_s: float, max_tokens: int = 1024, temperature: float = 0.0
    ) -> ChatReply:
        """One reply. `timeout_s` bounds the whole call; the answer of a reasoning model comes without its thinking."""
        section = self._section
        client = connect(section.url, timeout_s=timeout_s) if timeout_s != section.timeout_s else self._client
        with self._breaker.guard(), told_plainly(section.model):
            reply = client.chat(
                model=section.model,
                messages=[{"role": m.role, "content": safe(m.content)} for m in messages],
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
        sent = sum(len(m.content) for m in messages)
        counted = reply.prompt_eval_count
        if counted is not None and counted < _CUT * sent / _CHARACTERS:
            raise RemoteRefused(
                f"Ollama read {counted} tokens of a prompt of {sent} characters: it was cut. Raise llm.num_ctx.",
                service="ollama",
            )
        return ChatReply(
            text=_spoken(safe(reply.message.content or "")),
            done_reason=reply.done_reason or "stop",
            prompt_tokens=counted,
            output_tokens=reply.eval_count,
        )


def _spoken(text: str) -> str:
    """What follows the thinking, where a model writes it into its answer."""
    return text.rpartition("</think>")[2].strip() if "</think>" in text else text.strip()
