"""How many answers are in the making at once, and how many requests may wait behind them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Busy(Exception):
    """Every place is taken."""


class Places:
    """`working` at once, `waiting` behind; more are turned away, so that webhooks always find a free thread."""

    def __init__(self, working: int, waiting: int) -> None:
        self._room = threading.BoundedSemaphore(working + waiting)
        self._desks = threading.BoundedSemaphore(working)

    def enter(self) -> None:
        """Take a place; whoever entered calls `work` once. Raises Busy."""
        if not self._room.acquire(blocking=False):
            raise Busy

    @contextmanager
    def work(self) -> Iterator[None]:
        """Wait for one's turn, hold it for the length of the block, and leave."""
        try:
            with self._desks:
                yield
        finally:
            self._room.release()
