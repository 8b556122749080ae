"""Ollama's `POST /api/chat` as an httpx transport, held to what its API description says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import httpx

#: Go's duration syntax: a number without a unit in a string is refused.
_DURATION = re.compile(r"-?(?:\d+(?:\.\d+)?(?:ns|us|ms|s|m|h))+|0")


class OllamaChatDouble:
    """transport = OllamaChatDouble(reply="Dry it. [[1]]").transport; `requests` holds the decoded bodies.

    `models`: what is pulled; any other is 404. `fails`: responses (status, text) that come first, in order. A prompt
    over `num_ctx` (four characters a token) is refused with 400 when the request says `truncate: false`, else cut;
    `cut` cuts every prompt to half, and says so only in `prompt_eval_count`. `calls`: the tools that it calls where the
    request has any; None: a model that knows no tools, which is 400.
    """

    def __init__(
        self,
        reply: str | Callable[[dict[str, Any]], str] = "",
        *,
        models: tuple[str, ...] = ("qwen3:30b-a3b-q6k",),
        fails: tuple[tuple[int, str], ...] = (),
        cut: bool = False,
        thinking: str = "",
        calls: tuple[str, ...] | None = (),
    ) -> None:
        self._calls = calls
        self._reply, self._models, self._cut, self._thinking = reply, models, cut, thinking
        self._fails = list(fails)
        self.requests: list[dict[str, Any]] = []

    @property
    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self._handle)

    def _handle(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        self.requests.append(body)
        if self._fails:
            status, text = self._fails.pop(0)
            return httpx.Response(status, json={"error": text})
        if body.get("model") not in self._models:
            return httpx.Response(404, json={"error": f"model '{body.get('model')}' not found"})
        if body.get("tools") and self._calls is None:
            told = f"registry.ollama.ai/library/{body['model']} does not support tools"
            return httpx.Response(400, json={"error": told})
        alive = body.get("keep_alive")
        if isinstance(alive, str) and not _DURATION.fullmatch(alive):
            return httpx.Response(400, json={"error": f'time: missing unit in duration "{alive}"'})
        read = sum(len(message["content"]) for message in body["messages"]) // 4
        window = body.get("options", {}).get("num_ctx", 4096)
        if read > window and body.get("truncate") is False:
            return httpx.Response(400, json={"error": "the input length exceeds the context length"})
        read = read // 2 if self._cut else min(read, window)
        return httpx.Response(200, json=self._answer(body, read))

    def _answer(self, body: dict[str, Any], read: int) -> dict[str, Any]:
        text = self._reply if isinstance(self._reply, str) else self._reply(body)
        most = body.get("options", {}).get("num_predict") or 10_000
        words = text.split(" ")
        message: dict[str, Any] = {"role": "assistant", "content": " ".join(words[:most])}
        if self._thinking and body.get("think"):
            message["thinking"] = self._thinking
        if body.get("tools") and self._calls:
            message["tool_calls"] = [{"function": {"name": name, "arguments": {}}} for name in self._calls]
        return {
            "model": body["model"],
            "created_at": "2026-11-30T12:00:00Z",
            "message": message,
            "done": True,
            "done_reason": "length" if len(words) > most else "stop",
            "prompt_eval_count": read,
            "eval_count": min(len(words), most),
        }
