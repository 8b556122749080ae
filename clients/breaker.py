"""A circuit breaker for one remote service: after repeated failures it refuses at once, then lets one probe through."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum

from forum.errors import RemoteRefused, RemoteUnavailable


class BreakerState(StrEnum):
    """closed: calls pass; open: refused at once; half_open: one probe is under way."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


_living: weakref.WeakSet[Breaker] = weakref.WeakSet()


def breakers() -> list[Breaker]:
    """The breakers of this process, for its metrics and its report of health."""
    return list(_living)


class Breaker:
    """Opens after `failures` RemoteUnavailable in a row, for `pause_s` seconds, doubled up to `ceiling_s` while
    probes fail. A service's answer, also a refusal or a 429, shows that it lives.

    Usage: `with breaker.guard(): call()`. Thread-safe. `on_change(service, state)` is told of every change.
    """

    def __init__(
        self,
        service: str,
        *,
        failures: int = 5,
        pause_s: float = 5.0,
        ceiling_s: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
        on_change: Callable[[str, BreakerState], None] | None = None,
    ) -> None:
        self.service = service
        self._limit, self._first_pause, self._ceiling = failures, pause_s, ceiling_s
        self._clock, self._on_change = clock, on_change
        self._lock = threading.Lock()
        self._state = BreakerState.CLOSED
        self._count = 0
        self._pause = pause_s
        self._until = 0.0
        #: How often the service was unavailable, since the process began.
        self.errors = 0
        #: How to mend the service that answers and refuses everything; "" after an answer of use.
        self.refusal = ""
        _living.add(self)

    @property
    def state(self) -> BreakerState:
        return self._state

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Raises RemoteUnavailable at once, with the time left, while the breaker is open."""
        self._enter()
        try:
            yield
        except RemoteUnavailable as error:
            if error.status == 429:
                self.errors += 1
                self._succeeded()
            else:
                self._failed()
            raise
        except BaseException as error:
            # Not the service's fault, or an answer of its own: a probe that got this far was answered.
            self._succeeded()
            if isinstance(error, RemoteRefused) and error.mend:
                self.refusal = error.mend
            raise
        self._succeeded()
        self.refusal = ""

    def _enter(self) -> None:
        with self._lock:
            if self._state is BreakerState.CLOSED:
                return
            left = self._until - self._clock()
            if self._state is BreakerState.HALF_OPEN or left > 0:
                raise RemoteUnavailable(
                    f"{self.service} has failed {self._limit} times in a row; the next try is in {max(left, 1):.0f} s.",
                    service=self.service,
                    retry_after_s=max(left, 1.0),
                )
            self._change(BreakerState.HALF_OPEN)

    def _succeeded(self) -> None:
        with self._lock:
            self._count, self._pause = 0, self._first_pause
            self._change(BreakerState.CLOSED)

    def _failed(self) -> None:
        with self._lock:
            self._count += 1
            self.errors += 1
            if self._state is BreakerState.HALF_OPEN:
                self._pause = min(self._pause * 2, self._ceiling)
            elif self._count < self._limit:
                return
            self._until = self._clock() + self._pause
            self._change(BreakerState.OPEN)

    def _change(self, state: BreakerState) -> None:
        if state is not self._state:
            self._state = state
            if self._on_change:
                self._on_change(self.service, state)
