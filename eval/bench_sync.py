"""How long the index lags behind the forum: webhook to searchable, delete to gone, with web process and worker."""

from __future__ import annotations

import hashlib
import hmac
import json
import random
import secrets
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import psycopg

from clients.archive_source import ArchiveSource
from clients.composition import build_embedder, open_database
from clients.postgres import pipeline
from clients.postgres.ingest import Ingest
from eval.bench_backfill import First
from eval.bench_mentions import working
from eval.bench_webhook import deliver, scratch_database
from eval.serving import serving
from forum.config import Config
from forum.errors import ThreadciteError

_SENDERS = 16
#: Of a hundred events: so many new posts and so many edits; the rest are deletions.
_CREATED, _EDITED = 60, 25
#: Only posts that are this old are edited or destroyed: their own news has arrived.
_SETTLED_S = 5.0
_LOOK_S = 0.02
#: Longer than this an event counts as lost.
_PATIENCE_S = 60.0
_BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
_TEXT = (
    "<p>The rain gauge number {n} tips quite well, and this is all that there is to say about it in form {version}; "
    "the wind vane beside it turned from {a} to {b} degrees while the {c} sensor was being dried.</p>"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """A signed delivery and what the index shows once it has taken it in."""

    what: str
    post_id: int
    version: int
    body: bytes
    headers: dict[str, str]


def bench_sync(*, rate: int, seconds: int, posts: Path | None = None, rows: int = 0, seed: int = 0) -> dict[str, Any]:
    """Send `rate` events a second for `seconds`, each on a connection of its own, and look when the index shows them.

    The index begins with the first `rows` posts of the archive `posts`.

    `searchable_*_ms`: from the sending of a created or edited post until its text is public, has its terms and its
    vector; `gone_*_ms`: from the sending of a deletion until the post has neither text nor vector. `late` counts those
    over the bars (2 s and 1 s), `lost` those never seen. Raises DatabaseUnavailable, ThreadciteError when a process
    does not start.
    """
    secret = secrets.token_hex(16)
    events = _events(rate, seconds, secret, random.Random(seed))
    config = {"webhook": {"catch_up": False}, "bot": {"mode": "live"}}
    environment = {"THREADCITE_WEBHOOK_SECRET": secret}
    with scratch_database() as url:
        before = _fill(url, posts, rows) if posts is not None and rows else 0
        with (
            serving(url, config=config, environment=environment) as port,
            working(url, config, module="eval.sync_worker"),
        ):
            _warm(url, port, secret)
            lags, statuses = _run(url, port, events, rate)
    searchable = [lags[at] for at, one in enumerate(events) if one.what != "destroyed" and lags[at] is not None]
    gone = [lags[at] for at, one in enumerate(events) if one.what == "destroyed" and lags[at] is not None]
    return {
        "rate": rate,
        "seconds": seconds,
        "rows": before,
        "sent": len(events),
        "events": dict(Counter(one.what for one in events)),
        "statuses": dict(Counter(map(str, statuses))),
        "lost": sum(lag is None for lag in lags),
        "late": sum(lag > 2 for lag in searchable if lag) + sum(lag > 1 for lag in gone if lag),
        **_figures("searchable", searchable),
        **_figures("gone", gone),
    }


def _figures(name: str, lags: Sequence[float | None]) -> dict[str, float | None]:
    values = np.array([lag for lag in lags if lag is not None], dtype=float) * 1000
    if not values.size:
        return {f"{name}_{key}_ms": None for key in ("p50", "p95", "max")}
    return {
        f"{name}_p50_ms": round(float(np.percentile(values, 50)), 1),
        f"{name}_p95_ms": round(float(np.percentile(values, 95)), 1),
        f"{name}_max_ms": round(float(values.max()), 1),
    }


def _events(rate: int, seconds: int, secret: str, chance: random.Random) -> list[Event]:
    made: list[Event] = []
    living: list[list[int]] = []
    for at in range(rate * seconds):
        settled = [one for one in living if one[2] < at - _SETTLED_S * rate]
        drawn = chance.randrange(100)
        if drawn < _CREATED or not settled:
            post = [10**9 + at, 1, at]
            living.append(post)
            made.append(_event("created", post[0], 1, at, secret))
        elif drawn < _CREATED + _EDITED:
            post = chance.choice(settled)
            post[1:] = [post[1] + 1, at]
            made.append(_event("edited", post[0], post[1], at, secret))
        else:
            post = chance.choice(settled)
            living.remove(post)
            made.append(_event("destroyed", post[0], post[1], at, secret))
    return made


def _event(what: str, post_id: int, version: int, at: int, secret: str) -> Event:
    n = post_id - 10**9
    written = _BEGAN + timedelta(seconds=n)
    changed = written + timedelta(minutes=version - 1)
    record: dict[str, Any] = {
        "id": post_id,
        "topic_id": 10**9 + n // 7,
        "post_number": n % 7 + 1,
        "user_id": n % 500 + 1,
        "username": f"member{n % 500}",
        "raw": "A post.",
        "cooked": _TEXT.format(n=n, version=version, a=n % 360, b=(n * 7) % 360, c=("rain", "wind", "frost")[n % 3]),
        "created_at": written.isoformat(),
        "updated_at": changed.isoformat(),
        "version": version,
        "category_id": 1,
        "topic_title": "How do rain gauges tip?",
    }
    if what == "destroyed":
        record["deleted_at"] = (changed + timedelta(seconds=1)).isoformat()
    body = json.dumps({"post": record}).encode()
    mac = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "Connection": "close",
        "X-Discourse-Event-Type": "post",
        "X-Discourse-Event": f"post_{what}",
        "X-Discourse-Event-Id": str(at),
        "X-Discourse-Event-Signature": f"sha256={mac}",
    }
    return Event(what=what, post_id=post_id, version=version, body=body, headers=headers)


def _fill(url: str, posts: Path, rows: int) -> int:
    """How many posts of the archive are searchable now."""
    config = Config()
    with open_database(url) as database:
        ingest = Ingest(database, build_embedder(config.embedder), config)
        source = First(ArchiveSource(posts), rows)
        done = sum(one.indexed for one in pipeline.run(source, ingest, largest=config.indexer.batch_posts))
        ingest.models.build_index(ingest.model)
    return done


def _warm(url: str, port: int, secret: str) -> None:
    """One post all the way: the worker has its weights and connections."""
    first = _event("created", 10**9 - 1, 1, -1, secret)
    if deliver(port, first.body, first.headers) != 202:
        raise ThreadciteError("The web process did not take the first delivery.")
    with psycopg.connect(url, autocommit=True) as connection:
        end = time.monotonic() + _PATIENCE_S
        while first.post_id not in _shown(connection, [first.post_id]):
            if time.monotonic() > end:
                raise ThreadciteError(f"The worker did not index the first delivery within {_PATIENCE_S:g} s.")
            time.sleep(0.1)


def _run(url: str, port: int, events: Sequence[Event], rate: int) -> tuple[list[float | None], list[int]]:
    """Seconds from sending to showing of each event, and the status that each was answered with."""
    sent: dict[int, float] = {}
    statuses = [0] * len(events)
    lags: list[float | None] = [None] * len(events)
    begin = time.perf_counter() + 0.2
    sending = threading.Event()

    def send(at: int) -> None:
        sent[at] = time.perf_counter()
        statuses[at] = deliver(port, events[at].body, events[at].headers)

    def pace() -> None:
        with ThreadPoolExecutor(_SENDERS) as senders:
            for at in range(len(events)):
                time.sleep(max(0.0, begin + at / rate - time.perf_counter()))
                senders.submit(send, at)
        sending.set()

    thread = threading.Thread(target=pace)
    thread.start()
    waiting: set[int] = set()
    known = 0
    quiet = time.perf_counter()
    with psycopg.connect(url, autocommit=True) as connection:
        while True:
            over = sending.is_set()
            while known < len(events) and known in sent:
                waiting.add(known)
                known += 1
            shown = _shown(connection, [events[at].post_id for at in waiting])
            now = time.perf_counter()
            arrived = {at for at in waiting if _has_arrived(events[at], shown)}
            for at in arrived:
                lags[at] = now - sent[at]
            waiting -= arrived
            quiet = now if arrived or not over else quiet
            if over and known == len(events) and (not waiting or now - quiet > _PATIENCE_S):
                break
            time.sleep(_LOOK_S)
    thread.join()
    return lags, statuses


def _has_arrived(event: Event, shown: dict[int, int]) -> bool:
    """A later form, or the deletion, of the same post stands for the earlier one."""
    version = shown.get(event.post_id)
    if event.what == "destroyed":
        return version == 0
    return version is not None and (version == 0 or version >= event.version)


def _shown(connection: psycopg.Connection[tuple[Any, ...]], ids: Sequence[int]) -> dict[int, int]:
    """Version of each post that recall finds by word and by vector; 0 for one without text, terms and vector."""
    rows = connection.execute(
        "SELECT p.id, CASE WHEN p.text IS NULL THEN 0 ELSE p.version END FROM post p"
        " LEFT JOIN embedding e ON e.post_id = p.id"
        " WHERE p.id = ANY (%s) AND ((p.text IS NULL AND p.terms IS NULL AND e.post_id IS NULL)"
        " OR (e.content_hash = p.content_hash AND EXISTS (SELECT 1 FROM public_post s WHERE s.id = p.id)))",
        [list(ids)],
    )
    return dict(rows.fetchall())
