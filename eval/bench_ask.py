"""POST /ask at a steady rate against the real web process: what a request costs beside the answer itself."""

from __future__ import annotations

import http.client
import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from clients.postgres.pool import Database
from eval.question_set import Asked
from eval.serving import serving
from forum.config import Config

_SENDERS = 16


def bench_ask(
    database: Database, questions: Sequence[Asked], config: Config, *, rate: int, seconds: int
) -> dict[str, Any]:
    """Ask `rate` questions a second for `seconds`, each on a connection of its own, at its own moment.

    Returns sent, statuses, and of the answered ones in ms: `overhead_*` (the whole request without the stages:
    HTTP, token, waiting for a place, storing the trace), `answer_*` (the stages' own sum, models among them) and
    `request_*`. Raises ThreadciteError when the server does not start.
    """
    token = secrets.token_hex(16)
    settings = config.model_dump(mode="json")
    settings["api"] |= {"per_minute": 100_000, "waiting": 64}
    environment = {"THREADCITE_WEBHOOK_SECRET": token, "THREADCITE_API_TOKENS": f"bench:{token}"}
    bodies = [json.dumps({"question": f"{one.title}\n{one.body}".strip()[:8000]}).encode() for one in questions]
    with serving(database.url, config=settings, environment=environment) as port:
        for body in bodies[:5]:
            _one(port, body, token)
        answered = _send(port, [bodies[at % len(bodies)] for at in range(rate * seconds)], token, rate=rate)
    good = [(whole, stages) for status, whole, stages in answered if status == 200]
    rows = np.array(good or [(np.nan, np.nan)], dtype=float)
    shown = {"overhead": rows[:, 0] - rows[:, 1], "answer": rows[:, 1], "request": rows[:, 0]}
    return {
        "sent": len(answered),
        "statuses": dict(Counter(str(status) for status, _, _ in answered)),
        "rate": rate,
        "seconds": seconds,
        **{f"{name}_p{p}_ms": round(float(np.percentile(ms, p)), 1) for name, ms in shown.items() for p in (50, 95)},
    }


def _send(port: int, bodies: Sequence[bytes], token: str, *, rate: int) -> list[tuple[int, float, float]]:
    answered: list[tuple[int, float, float]] = [(0, 0.0, 0.0)] * len(bodies)
    begin = time.perf_counter() + 0.2

    def work(first: int) -> None:
        for at in range(first, len(bodies), _SENDERS):
            pause = begin + at / rate - time.perf_counter()
            if pause > 0:
                time.sleep(pause)
            answered[at] = _one(port, bodies[at], token)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(_SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answered


def _one(port: int, body: bytes, token: str) -> tuple[int, float, float]:
    """Status, milliseconds of the request, milliseconds of the stages."""
    started = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}", "Connection": "close"}
        connection.request("POST", "/ask", body=body, headers=headers)
        response = connection.getresponse()
        given = json.loads(response.read())
        ms = (time.perf_counter() - started) * 1000
        return response.status, ms, float(given.get("timings_ms", {}).get("total", 0.0))
    except (OSError, ValueError):
        return -1, 0.0, 0.0
    finally:
        connection.close()
