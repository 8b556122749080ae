"""The practice forum can be told to fail: which route, how, and how often."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

#: kind -> what it does; `params` that it takes stand in brackets
KINDS: dict[str, str] = {
    "refuse": "closes the connection before anything is done",
    "hang": "does nothing for [seconds], then closes the connection",
    "slow": "waits [seconds], then answers as always",
    "drop-after-store": "does the work, then closes the connection",
    "hang-after-store": "does the work, then is silent for [seconds] and closes the connection",
    "500-after-store": "does the work, then answers 500",
    "500": "answers 500",
    "502": "answers 502 with a proxy's HTML page",
    "503": "answers 503 read_only",
    "429-json": "answers 429 as the application does [wait]",
    "429-text": "answers 429 as the middleware does, in plain text [wait, code]",
    "429-weird": "answers 429 with [body, content_type, retry_after] as given, each may be absent",
    "enqueued": "the post waits for approval (posts.create)",
    "422-new-user-links": "answers 422 if the text has over [max] links, images or mentions [of]",
    "422": "answers 422 with [error]",
    "403": "answers 403 invalid_access",
    "404": "answers 404 not_found",
    "409": "answers 409",
    "broken-json": "answers 200 with half a JSON object",
    "html": "answers 200 with an HTML page",
    "drop": "the delivery is lost (webhooks)",
    "duplicate": "the delivery goes out twice (webhooks)",
    "delay": "the delivery waits [seconds] (webhooks)",
}
ROUTES = (
    ("*", "posts.create", "posts.update", "posts.delete", "posts.get", "posts.by_number", "posts.replies")
    + ("posts.latest", "topics.get", "topics.posts", "topics.update", "topics.status", "topics.latest", "raw", "site")
    + ("categories", "session", "notifications", "search", "users", "tags", "likes", "solution", "webhooks")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    id: int
    route: str
    kind: str
    #: how many more requests fail; negative: all
    count: int = 1
    #: how many requests go through first
    skip: int = 0
    #: only requests of this member, "" for all
    user: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    fired: int = 0

    def seconds(self, default: float) -> float:
        return float(self.params.get("seconds", default))


class Faults:
    """The faults that are set; `take` uses one up."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._lock = threading.Lock()
        self._next = 1
        self._stopping = threading.Event()

    def add(self, wish: Mapping[str, Any]) -> Fault:
        """Raises ValueError or TypeError, naming what is wrong."""
        unknown = set(wish) - {"route", "kind", "count", "skip", "user", "params"}
        if unknown:
            raise ValueError(f"unknown key {min(unknown)}")
        route, kind = str(wish.get("route", "*")), str(wish.get("kind", ""))
        if route not in ROUTES:
            raise ValueError(f"unknown route {route}; there are {', '.join(ROUTES)}")
        if kind not in KINDS:
            raise ValueError(f"unknown kind {kind}; there are {', '.join(KINDS)}")
        params = wish.get("params") or {}
        if not isinstance(params, Mapping):
            raise TypeError("params is a mapping")
        with self._lock:
            fault = Fault(
                id=self._next,
                route=route,
                kind=kind,
                count=int(wish.get("count", 1)),
                skip=int(wish.get("skip", 0)),
                user=str(wish.get("user", "")).lower(),
                params=dict(params),
            )
            self._next += 1
            self._faults.append(fault)
            return fault

    def take(self, route: str, *, user: str | None) -> Fault | None:
        """The fault that this request meets, if any."""
        with self._lock:
            for at, fault in enumerate(self._faults):
                mine = fault.route == route or (fault.route == "*" and route != "webhooks")
                if not mine or fault.count == 0 or (fault.user and fault.user != (user or "").lower()):
                    continue
                if fault.skip:
                    self._faults[at] = replace(fault, skip=fault.skip - 1)
                    return None
                self._faults[at] = replace(fault, count=max(fault.count - 1, -1), fired=fault.fired + 1)
                return fault
            return None

    def give_back(self, fault: Fault) -> None:
        """A conditional fault did not apply: it has not fired."""
        with self._lock:
            for at, now in enumerate(self._faults):
                if now.id == fault.id:
                    count = now.count if now.count < 0 else now.count + 1
                    self._faults[at] = replace(now, count=count, fired=now.fired - 1)

    def sleep(self, seconds: float) -> None:
        """Waits, but not longer than the server lives."""
        self._stopping.wait(seconds)

    def stop(self) -> None:
        self._stopping.set()

    def clear(self) -> None:
        with self._lock:
            self._faults.clear()

    def listing(self) -> list[dict[str, Any]]:
        with self._lock:
            return [asdict(f) for f in self._faults]
