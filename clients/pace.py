"""A bound on requests: at most so many a minute, with a burst."""

from __future__ import annotations

import threading
import time


class Pace:
    """At most so many requests a minute, with a burst of a sixth of them. Thread-safe."""

    def __init__(self, per_minute: int) -> None:
        self._interval = 60.0 / per_minute
        self._burst = max(per_minute / 6, 1.0) * self._interval
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self) -> None:
        with self._lock:
            now = time.monotonic()
            self._next = max(self._next, now - self._burst) + self._interval
            pause = self._next - now
        if pause > 0:
            time.sleep(pause)
