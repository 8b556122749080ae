"""Several questions to the index at once: the database answers one while we score what another found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")

#: Two connections of the pool an answer: it has eight, for all who answer at once.
_THREADS = 2


def side_by_side(calls: Mapping[str, Callable[[], T]]) -> dict[str, T]:
    """What each call returned, by its name; waits for all, then raises what the first that failed raised."""
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="recall") as threads:
        begun = {name: threads.submit(copy_context().run, call) for name, call in calls.items()}
    return {name: future.result() for name, future in begun.items()}
