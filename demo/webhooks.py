"""Signed deliveries as Discourse sends them: frozen when the event happens, sent by a few threads, tried once.

No order is kept between deliveries, a receiver has 20 s, a refused connection is never tried again. A delivery
under way when the process is killed is lost: a receiver has to catch up by itself, as with Discourse.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import queue
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import httpx

from demo.faults import Faults
from demo.forum_state import ForumState
from demo.payloads import payload
from demo.store import Event

TIMEOUT_S = 20.0
VERSION = "2026.9.0"
#: deliveries kept for redelivery
KEPT = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    url: str
    secret: str
    #: event types that it wants, empty: all
    types: frozenset[str] = frozenset()
    #: category ids that it wants, empty: all (as in Discourse, private messages have none and fall out)
    category_ids: frozenset[int] = frozenset()
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Headers and body exactly as they go out, so that a redelivery is the same to the byte."""

    url: str
    event_id: int
    name: str
    headers: Mapping[str, str]
    body: bytes
    #: None while it waits; -1 when there was no HTTP answer; 0 when a fault swallowed it
    status: int | None = None

    def summary(self) -> dict[str, Any]:
        return {"event_id": self.event_id, "event": self.name, "url": self.url, "status": self.status}


def sign(secret: str, body: bytes) -> str:
    """The value of X-Discourse-Event-Signature."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


class Webhooks:
    """Listens to the store and delivers; `base_url` is what X-Discourse-Instance says."""

    def __init__(self, forum: ForumState, hooks: tuple[Hook, ...], base_url: str, faults: Faults) -> None:
        self._forum, self._base_url, self._faults = forum, base_url, faults
        self.hooks = hooks
        self._queue: queue.SimpleQueue[tuple[int, Delivery] | None] = queue.SimpleQueue()
        self._log: OrderedDict[int, Delivery] = OrderedDict()
        self._lock = threading.Lock()
        self._next = 0
        self._event_id = forum.store.next_event_id
        self._client = httpx.Client(timeout=TIMEOUT_S, trust_env=False, follow_redirects=False)
        self._client.headers.clear()
        self._threads = [threading.Thread(target=self._work, name=f"webhook-{n}", daemon=True) for n in range(4)]

    def start(self) -> None:
        self._forum.store.listeners.append(self.enqueue)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        if self.enqueue in self._forum.store.listeners:
            self._forum.store.listeners.remove(self.enqueue)
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            if thread.is_alive():
                thread.join(2)
        if not any(thread.is_alive() for thread in self._threads):  # a receiver that hangs is left to its time-out
            self._client.close()

    def enqueue(self, event: Event) -> None:
        """Freezes the event's payload for every hook that wants it."""
        self._event_id += 1
        body = payload(self._forum, event)
        category = body[event.type].get("category_id")
        for hook in self.hooks:
            wanted = not hook.types or event.type in hook.types
            if wanted and (not hook.category_ids or category in hook.category_ids):
                self._send(hook, event.type, event.name, body)

    def ping(self) -> None:
        """What the admin's "Ping" button sends."""
        with self._forum.store.lock:
            for hook in self.hooks:
                self._event_id += 1
                self._forum.store.next_event_id += 1
                self._send(hook, "ping", "ping", {"ping": "OK"})

    def _send(self, hook: Hook, kind: str, name: str, content: dict[str, Any]) -> None:
        body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        headers = {
            "Accept": "*/*",
            "Connection": "close",
            "Content-Length": str(len(body)),
            "Content-Type": hook.content_type,
            "User-Agent": f"Discourse/{VERSION}",
            "X-Discourse-Instance": self._base_url,
            "X-Discourse-Event-Id": str(self._event_id),
            "X-Discourse-Event-Type": kind,
            "X-Discourse-Event": name,
        }
        if hook.secret:
            headers["X-Discourse-Event-Signature"] = sign(hook.secret, body)
        self._put(Delivery(url=hook.url, event_id=self._event_id, name=name, headers=headers, body=body))

    def _put(self, delivery: Delivery) -> None:
        with self._lock:
            self._next += 1
            self._log[self._next] = delivery
            while len(self._log) > KEPT:
                self._log.popitem(last=False)
            self._queue.put((self._next, delivery))

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            key, delivery = item
            fault = self._faults.take("webhooks", user=None)
            kind = fault.kind if fault else ""
            status = 0
            if kind == "delay" and fault is not None:
                self._faults.sleep(fault.seconds(2.0))
            for _ in range(0 if kind == "drop" else 2 if kind == "duplicate" else 1):
                status = self._deliver(delivery)
            with self._lock:
                if key in self._log:
                    self._log[key] = replace(delivery, status=status)

    def _deliver(self, delivery: Delivery) -> int:
        try:
            return self._client.post(delivery.url, content=delivery.body, headers=dict(delivery.headers)).status_code
        except (httpx.HTTPError, httpx.InvalidURL):
            return -1

    # -- what an admin sees

    def deliveries(self) -> list[dict[str, Any]]:
        """The kept deliveries, oldest first."""
        with self._lock:
            return [d.summary() for d in self._log.values()]

    def redeliver(self, event_id: int | None = None) -> int:
        """Sends a delivery again, headers and body unchanged; without an id all that failed. Returns how many."""
        with self._lock:
            kept = list(self._log.values())
        again = [
            d for d in kept if (d.event_id == event_id if event_id is not None else not 200 <= (d.status or 200) < 300)
        ]
        again = list({(d.url, d.event_id): d for d in again}.values())
        for delivery in again:
            self._put(replace(delivery, status=None))
        return len(again)
