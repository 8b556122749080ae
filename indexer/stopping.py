"""Ctrl-C and SIGTERM end a long command after its last whole batch, with one line that says how to go on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from clients.console import fail

_INTERRUPTED = 130


@contextmanager
def stoppable() -> Iterator[None]:
    """For the length of the block SIGTERM does what Ctrl-C does; either leaves with exit code 130."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        fail("Stopped. What was finished is kept; the same command goes on from there.", _INTERRUPTED)
    finally:
        signal.signal(signal.SIGTERM, before)
