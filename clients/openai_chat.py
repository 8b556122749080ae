"""Chat with an LLM behind an OpenAI-compatible address: llama.cpp, vLLM and their like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx
import stamina

from clients.address import is_nearby, service_address
from clients.breaker import Breaker
from clients.discourse_json import integer
from clients.ollama_connection import is_busy
from clients.prompt_cut import is_too_long, refuse_if_cut
from clients.refusal import mend
from clients.retry_after import retry_after_s
from clients.secrets import Secret
from clients.tool_calls import called, cannot_call, described
from forum.config import LlmSection
from forum.errors import PromptCut, RemoteRefused, RemoteUnavailable
from forum.ports import ChatReply, Message, Tool
from forum.unicode_safety import safe

_SERVICE = "llm"
_LARGEST = 2_000_000
#: As in ollama_chat.py.
_ATTEMPTS, _PAUSE_S, _LONGEST_PAUSE_S = 3, 0.5, 5.0


class OpenAIChat:
    """Raises RemoteUnavailable or RemoteRefused."""

    def __init__(
        self, section: LlmSection, *, key: Secret | None = None, transport: httpx.BaseTransport | None = None
    ) -> None:
        base = service_address(section.url, key="llm.url", default="http://127.0.0.1:8080")
        self._section = section
        self._breaker = Breaker(_SERVICE)
        self._http = httpx.Client(
            base_url=base if base.endswith("/v1") else f"{base}/v1",
            headers={"Authorization": f"Bearer {key.reveal()}"} if key else {},
            trust_env=not is_nearby(base),
            transport=transport,
        )

    @property
    def model_id(self) -> str:
        return f"openai/{self._section.model or 'default'}"

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
        """One reply. `timeout_s` bounds each wait for the server."""
        body = {
            "model": self._section.model or "default",
            "messages": [{"role": m.role, "content": safe(m.content)} for m in messages],
            "max_tokens": max_tokens,
            "temperature": temperature,
            "stream": False,
            **({"tools": described(tools), "tool_choice": "auto"} if tools else {}),
        }
        for attempt in stamina.retry_context(
            on=is_busy, attempts=_ATTEMPTS, wait_initial=_PAUSE_S, wait_max=_LONGEST_PAUSE_S, timeout=timeout_s
        ):
            with attempt, self._breaker.guard():
                reply = _read(self._post(body, timeout_s))
        refuse_if_cut(messages, reply.prompt_tokens, service=_SERVICE)
        return reply

    def _post(self, body: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        try:
            response = self._http.post(
                "/chat/completions", json=body, timeout=httpx.Timeout(timeout_s, connect=min(timeout_s, 5.0))
            )
        except httpx.TimeoutException as error:
            raise RemoteUnavailable(f"The LLM did not answer within {timeout_s:.0f} s.", service=_SERVICE) from error
        except httpx.HTTPError as error:
            raise RemoteUnavailable(f"The LLM cannot be reached: {error}. Check llm.url.", service=_SERVICE) from error
        status = response.status_code
        if status >= 400 and "tools" in body and cannot_call(response.text[:2000]):
            raise RemoteRefused(f"The LLM cannot call tools ({status}).", service=_SERVICE, status=status)
        if status in (408, 429) or status >= 500:
            raise RemoteUnavailable(
                f"The LLM answered {status}: {response.text[:200]}",
                service=_SERVICE,
                status=status,
                retry_after_s=retry_after_s(response, ceiling_s=300),
            )
        if status != 200 or len(response.content) > _LARGEST:
            raise self._refusal(status, response.text[:2000])
        try:
            data = response.json()
        except (ValueError, RecursionError) as error:
            raise RemoteRefused("The LLM sent an answer that is not JSON.", service=_SERVICE) from error
        return data if isinstance(data, dict) else {}

    def _refusal(self, status: int, text: str) -> RemoteRefused:
        told = f"The LLM refused ({status}): {text[:200]}"
        if is_too_long(text):
            return PromptCut(told, service=_SERVICE, status=status)
        model = self._section.model or "the default model"
        how = mend(status, text, model=model, keys="llm.model and llm.url", variable="THREADCITE_LLM_API_KEY")
        return RemoteRefused(f"{told} {how}".strip(), service=_SERVICE, status=status, mend=how)


def _read(data: dict[str, Any]) -> ChatReply:
    try:
        choice = data["choices"][0]
        content = choice["message"].get("content") or ""
        usage = data.get("usage") or {}
        text = safe(content).rpartition("</think>")[2].strip()
        return ChatReply(
            text=text,
            done_reason=str(choice.get("finish_reason") or "stop"),
            prompt_tokens=integer(usage.get("prompt_tokens")),
            output_tokens=integer(usage.get("completion_tokens")),
            tools=called(choice["message"].get("tool_calls")),
        )
    except (LookupError, TypeError, AttributeError) as error:
        raise RemoteRefused("The LLM's answer holds no message.", service=_SERVICE) from error
