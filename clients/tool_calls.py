"""Tools in the form that Ollama and OpenAI-compatible servers share, and which of them a reply calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forum.ports import Tool


def described(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """For the request's `tools`; none takes arguments."""
    nothing = {"type": "object", "properties": {}, "required": []}
    return [
        {"type": "function", "function": {"name": one.name, "description": one.description, "parameters": nothing}}
        for one in tools
    ]


def called(tool_calls: object) -> tuple[str, ...]:
    """The names in a message's decoded `tool_calls`, untrusted; "" for whatever does not name one."""
    if tool_calls is None:
        return ()
    if not isinstance(tool_calls, list):
        return ("",)
    return tuple(_name(one) for one in tool_calls)


def cannot_call(text: str) -> bool:
    """Whether a refusal says that the model or its server knows no tools (Ollama, llama.cpp, vLLM)."""
    low = text.lower()
    return "tool" in low and any(word in low for word in ("support", "require", "enable"))


def _name(call: object) -> str:
    function = call.get("function") if isinstance(call, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else ""
