"""What the stages need from outside, as one frozen bundle of ports; built by the composition root only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from forum.ports import ChatModel, Embedder, ExternalSource, Index, Reranker


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Tools:
    """The ports of one answer. `chat` None: the quoting answer writes."""

    index: Index
    embedder: Embedder
    reranker: Reranker
    chat: ChatModel | None = None
    #: Outside the forum; none by default.
    sources: tuple[ExternalSource, ...] = ()
    now: Callable[[], datetime] = field(default=_now)
