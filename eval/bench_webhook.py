"""Signed deliveries at a steady rate against the real web process: how fast it says 202, what is lost or doubled."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import os
import random
import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from clients.composition import database_url
from clients.postgres.migrate import migrate
from eval.serving import serving

_SENDERS = 16
#: Of a hundred deliveries: so many mention the bot, so many are sent a second time.
_MENTIONS, _REPEATS = 10, 5
_MENTION = '<p><a class="mention" href="/u/threadcite">@threadcite</a> how does the rain gauge number {n} tip?</p>'
_PLAIN = "<p>The rain gauge number {n} tips quite well, and this is all that there is to say about it.</p>"


def bench_webhook(*, rate: int, seconds: int, seed: int = 0) -> dict[str, Any]:
    """Send `rate` deliveries a second for `seconds`, each on a connection of its own as Discourse does.

    Returns sent, accepted, lost (accepted without a receipt), double (asks or answer jobs beyond one an
    asking post), p50_ms and p99_ms of the 202. Raises DatabaseUnavailable, ThreadciteError when the server does not
    start.
    """
    secret = secrets.token_hex(16)
    deliveries = signed_deliveries(rate * seconds, secret, random.Random(seed))
    environment = {"THREADCITE_WEBHOOK_SECRET": secret}
    live = {"bot": {"mode": "live"}}
    with scratch_database() as url, serving(url, config=live, environment=environment) as port:
        send(port, deliveries[:50], rate=50)
        _empty(url)
        statuses, times = send(port, deliveries, rate=rate)
        kept = _kept(url)
    accepted = [d for d, status in zip(deliveries, statuses, strict=True) if status == 202]
    asking = {d.post_id for d in accepted if d.mentions}
    return {
        "sent": len(deliveries),
        "accepted": len(accepted),
        "statuses": dict(Counter(map(str, statuses))),
        "lost": len({d.post_id for d in accepted} - kept["receipts"]) + len(asking - kept["asks"]),
        "double": kept["answer_jobs"] - len(asking) + kept["rows"] - len(kept["receipts"]),
        "p50_ms": round(float(np.percentile(times, 50)) * 1000, 1),
        "p99_ms": round(float(np.percentile(times, 99)) * 1000, 1),
        "max_ms": round(max(times) * 1000, 1),
        "rate": rate,
        "seconds": seconds,
    }


class _Delivery:
    __slots__ = ("body", "headers", "mentions", "post_id")

    def __init__(self, n: int, mentions: bool, secret: str) -> None:
        self.post_id, self.mentions = 10**9 + n, mentions
        record = {
            "id": self.post_id,
            "topic_id": 10**9 + n // 7,
            "post_number": n % 7 + 1,
            "user_id": n % 500 + 1,
            "username": f"member{n % 500}",
            "raw": "A post.",
            "cooked": (_MENTION if mentions else _PLAIN).format(n=n),
            "created_at": "2026-01-01T00:00:00.000Z",
            "updated_at": "2026-01-01T00:00:00.000Z",
            "version": 1,
            "category_id": 1,
            "topic_title": "How do rain gauges tip?",
            "trust_level": 2,
        }
        self.body = json.dumps({"post": record}).encode()
        mac = hmac.new(secret.encode(), self.body, hashlib.sha256).hexdigest()
        self.headers = {
            "Content-Type": "application/json",
            "Connection": "close",
            "X-Discourse-Event-Type": "post",
            "X-Discourse-Event": "post_created",
            "X-Discourse-Event-Id": str(n),
            "X-Discourse-Event-Signature": f"sha256={mac}",
        }


def signed_deliveries(
    count: int, secret: str, chance: random.Random, *, mentions: int = _MENTIONS, repeats: int = _REPEATS
) -> list[_Delivery]:
    """So many deliveries, `mentions` of a hundred mentioning the bot and `repeats` of a hundred sent before."""
    made: list[_Delivery] = []
    for n in range(count):
        if made and chance.randrange(100) < repeats:
            made.append(chance.choice(made[-200:]))
        else:
            made.append(_Delivery(n, chance.randrange(100) < mentions, secret))
    return made


def send(port: int, deliveries: Sequence[_Delivery], *, rate: int) -> tuple[list[int], list[float]]:
    """Status and seconds of each; each goes out at its own moment, whether or not the earlier ones are answered."""
    statuses, times = [0] * len(deliveries), [0.0] * len(deliveries)
    begin = time.perf_counter() + 0.2

    def work(first: int) -> None:
        for at in range(first, len(deliveries), _SENDERS):
            pause = begin + at / rate - time.perf_counter()
            if pause > 0:
                time.sleep(pause)
            started = time.perf_counter()
            statuses[at] = deliver(port, deliveries[at].body, deliveries[at].headers)
            times[at] = time.perf_counter() - started

    threads = [threading.Thread(target=work, args=(first,)) for first in range(_SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statuses, times


def deliver(port: int, body: bytes, headers: Mapping[str, str]) -> int:
    """The status; -1 when the connection broke."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("POST", "/webhooks/discourse", body=body, headers=dict(headers))
        return connection.getresponse().status
    except OSError:
        return -1
    finally:
        connection.close()


def _empty(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("TRUNCATE receipt, ask, procrastinate_jobs CASCADE")


def _kept(url: str) -> dict[str, Any]:
    with psycopg.connect(url) as connection:
        receipts = connection.execute("SELECT split_part(key, ':', 2)::bigint FROM receipt").fetchall()
        asks = connection.execute("SELECT post_id FROM ask").fetchall()
        counted = connection.execute("SELECT task_name, count(*) FROM procrastinate_jobs GROUP BY 1").fetchall()
    jobs: dict[str, int] = dict(counted)
    return {
        "receipts": {row[0] for row in receipts},
        "asks": {row[0] for row in asks},
        "answer_jobs": jobs.get("answer", 0),
        "rows": len(receipts),
    }


@contextmanager
def scratch_database() -> Iterator[str]:
    server, name = database_url(), f"bench_webhook_{os.getpid()}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    url = make_conninfo(server, dbname=name)
    try:
        migrate(url)
        yield url
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
