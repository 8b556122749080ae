"""The chat route of an OpenAI-compatible server (llama.cpp, vLLM) as an httpx transport."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx


class OpenAIChatDouble:
    """transport = OpenAIChatDouble(reply="Dry it. [[1]]").transport; `requests` holds the decoded bodies.

    `fails`: responses (status, text) that come first, in order. A prompt over `context` (four characters a token) is
    refused with 400, as llama.cpp and vLLM do; `cut` reads only half and says so only in `usage.prompt_tokens`.
    `calls`: the tools that it calls where the request has any; None: a llama.cpp that was started without them, 500.
    """

    def __init__(
        self,
        reply: str | Callable[[dict[str, Any]], str] = "",
        *,
        context: int = 8192,
        fails: tuple[tuple[int, str], ...] = (),
        cut: bool = False,
        key: str = "",
        calls: tuple[str, ...] | None = (),
    ) -> None:
        self._calls = calls
        self._reply, self._context, self._cut, self._key = reply, context, cut, key
        self._fails = list(fails)
        self.requests: list[dict[str, Any]] = []

    @property
    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self._handle)

    def _handle(self, request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/v1/chat/completions"):
            return httpx.Response(404, json={"error": {"message": "no such route"}})
        if self._key and request.headers.get("authorization") != f"Bearer {self._key}":
            return httpx.Response(401, json={"error": {"message": "Invalid API Key"}})
        body = json.loads(request.content)
        self.requests.append(body)
        if self._fails:
            status, text = self._fails.pop(0)
            return httpx.Response(status, json={"error": {"message": text}})
        if body.get("tools") and self._calls is None:
            refusal = {"code": 500, "message": "tools param requires --jinja flag", "type": "server_error"}
            return httpx.Response(500, json={"error": refusal})
        read = sum(len(message["content"]) for message in body["messages"]) // 4
        if read > self._context:
            told = f"the request exceeds the available context size ({read} > {self._context})"
            return httpx.Response(400, json={"error": {"message": told, "type": "exceed_context_size_error"}})
        text = self._reply if isinstance(self._reply, str) else self._reply(body)
        words = text.split(" ")
        most = body.get("max_tokens") or 10_000
        message: dict[str, Any] = {"role": "assistant", "content": " ".join(words[:most])}
        finish = "length" if len(words) > most else "stop"
        if body.get("tools") and self._calls:
            calls = [
                {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": "{}"}}
                for n, name in enumerate(self._calls)
            ]
            message, finish = {"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls"
        return httpx.Response(
            200,
            json={
                "choices": [
                    {
                        "index": 0,
                        "message": message,
                        "finish_reason": finish,
                    }
                ],
                "usage": {
                    "prompt_tokens": read // 2 if self._cut else read,
                    "completion_tokens": min(len(words), most),
                },
            },
        )
