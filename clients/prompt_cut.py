"""Notices that a server read less than was sent: an answer written without its rules is not used."""

from __future__ import annotations

from collections.abc import Sequence

from forum.errors import PromptCut
from forum.ports import Message
from forum.tokens import least_tokens


def refuse_if_cut(messages: Sequence[Message], counted: int | None, *, service: str) -> None:
    """Raises PromptCut when `counted` tokens are fewer than the messages can be; servers that do not count pass."""
    least = sum(least_tokens(message.content) for message in messages)
    if counted and counted < least:
        raise PromptCut(
            f"{service} read {counted} tokens of a prompt of at least {least}: it was cut. Raise llm.num_ctx, and the "
            f"server's own context size.",
            service=service,
        )


def is_too_long(text: str) -> bool:
    """Whether a refusal's words say that the prompt does not fit."""
    low = text.lower()
    return "context" in low and any(word in low for word in ("exceed", "length", "longer", "size", "window", "maximum"))
