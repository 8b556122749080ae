"""Who may call the API: named tokens, compared in constant time, each with its questions a minute."""

from __future__ import annotations

import hashlib
import hmac
import math
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence

from clients.secrets import Secret
from forum.errors import ConfigError

#: A shorter one could be found by trying.
_SHORTEST = 16
_WINDOW_S = 60.0


class Tokens:
    """The values of THREADCITE_API_TOKENS, each `name:token`; the name stands in the log, the token nowhere.

    Raises ConfigError for a token without a name, too short, or two of one name.
    """

    def __init__(self, values: Sequence[Secret]) -> None:
        self._digests: dict[str, bytes] = {}
        for value in values:
            name, colon, token = value.reveal().partition(":")
            if not colon or not name.strip() or name in self._digests:
                raise ConfigError("THREADCITE_API_TOKENS: write name:token, one a line, each name once.")
            if len(token) < _SHORTEST:
                raise ConfigError(f"THREADCITE_API_TOKENS: the token of {name} needs {_SHORTEST} characters or more.")
            self._digests[name.strip()] = _digest(token)

    def __bool__(self) -> bool:
        return bool(self._digests)

    def name_of(self, authorization: str | None) -> str | None:
        """Whose token the header `Bearer TOKEN` holds. Every token is compared, whichever fits."""
        scheme, _, given = (authorization or "").partition(" ")
        digest = _digest(given.strip())
        fitting = [name for name, known in self._digests.items() if hmac.compare_digest(known, digest)]
        return fitting[0] if fitting and scheme.lower() == "bearer" else None


class Pace:
    """How often each token has called within a minute; kept in this process only."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._calls: defaultdict[str, deque[float]] = defaultdict(deque)

    def wait_s(self, name: str, limit: int) -> int:
        """0: counted and let through; else whole seconds until the next call of `name` is, at `limit` a minute."""
        with self._lock:
            now, calls = self._now(), self._calls[name]
            while calls and calls[0] <= now - _WINDOW_S:
                calls.popleft()
            if len(calls) >= limit:
                return max(1, math.ceil(calls[-limit] + _WINDOW_S - now))
            calls.append(now)
            return 0


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
