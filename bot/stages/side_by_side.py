"""Several questions to the index at once: the database answers one while we score what another found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import cache
from typing import TypeVar

T = TypeVar("T")

#: For all who answer at once: each call takes one of the pool's eight connections, and the answers themselves others.
_THREADS = 4


def side_by_side(calls: Mapping[str, Callable[[], T]]) -> dict[str, T]:
    """What each call returned, by its name; waits for all, then raises what the first that failed raised."""
    begun = {name: _threads().submit(copy_context().run, call) for name, call in calls.items()}
    wait(begun.values())
    return {name: future.result() for name, future in begun.items()}


@cache
def _threads() -> ThreadPoolExecutor:
    """Kept: to begin and end threads takes longer than most of the questions."""
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="recall")
