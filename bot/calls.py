"""Times every call to a model, the index or a service outside, and how it ended: for the trace, no word of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, TypeVar, cast

from bot.tools import Tools
from forum.errors import PromptCut, RemoteError, RemoteUnavailable
from forum.types import Call

T = TypeVar("T")

#: Methods that call nobody: what they return is timed instead.
_LEADS_ON = ("acting_as",)


class CallLog:
    """The calls of one stage, in the order in which they began; several threads may call at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun: list[tuple[str, str, float]] = []
        self._ended: dict[int, Call] = {}

    @contextmanager
    def call(self, service: str, name: str) -> Iterator[None]:
        started = time.perf_counter()
        with self._lock:
            place = len(self._begun)
            self._begun.append((service, name, started))
        outcome = "ok"
        try:
            yield
        except BaseException as error:
            outcome = _outcome(error)
            raise
        finally:
            ms = round((time.perf_counter() - started) * 1000, 3)
            with self._lock:
                self._ended[place] = Call(service=service, call=name, ms=ms, outcome=outcome)

    def calls(self) -> tuple[Call, ...]:
        """All until now; one that is still under way as `unfinished`, with the time that it has had."""
        now = time.perf_counter()
        with self._lock:
            return tuple(
                self._ended.get(place)
                or Call(service=service, call=name, ms=round((now - started) * 1000, 3), outcome="unfinished")
                for place, (service, name, started) in enumerate(self._begun)
            )


def timed(port: T, service: str, log: Callable[[], CallLog | None]) -> T:
    """The same port; each call of a method is written into the log that `log` gives when the call begins, if any."""
    return cast(T, _Timed(port, service, log))


def watched(tools: Tools, log: Callable[[], CallLog | None]) -> Tools:
    """The tools with every port timed."""
    return replace(
        tools,
        index=timed(tools.index, "index", log),
        embedder=timed(tools.embedder, "embedder", log),
        reranker=timed(tools.reranker, "reranker", log),
        chat=None if tools.chat is None else timed(tools.chat, "llm", log),
        sources=tuple(timed(one, one.name, log) for one in tools.sources),
    )


_collected: ContextVar[CallLog | None] = ContextVar("collected", default=None)


@contextmanager
def collecting() -> Iterator[CallLog]:
    """What this thread calls meanwhile, through ports that are timed into `collected`."""
    log = CallLog()
    token = _collected.set(log)
    try:
        yield log
    finally:
        _collected.reset(token)


def collected() -> CallLog | None:
    """The log of the `collecting` around us."""
    return _collected.get()


class _Timed:
    def __init__(self, inner: Any, service: str, log: Callable[[], CallLog | None]) -> None:
        self._inner, self._service, self._log = inner, service, log

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found):
            return found
        if name in _LEADS_ON:
            return lambda *args, **kwargs: timed(found(*args, **kwargs), self._service, self._log)

        def run(*args: Any, **kwargs: Any) -> Any:
            log = self._log()
            if log is None:
                return found(*args, **kwargs)
            with log.call(self._service, name):
                return found(*args, **kwargs)

        return run


def _outcome(error: BaseException) -> str:
    if not isinstance(error, RemoteError):
        return "failed"
    kind = (
        "unavailable" if isinstance(error, RemoteUnavailable) else "cut" if isinstance(error, PromptCut) else "refused"
    )
    return f"{kind} {error.status}" if error.status else kind
