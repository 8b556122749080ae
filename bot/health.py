"""GET /healthz says that this process runs; GET /readyz says whether the product works, and what does not."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, jsonify

from clients.breaker import BreakerState, breakers
from clients.postgres.ledger import Ledger
from forum.errors import DatabaseUnavailable

#: The worker reports every ten seconds.
_SILENT_S = 60.0
#: A remote service's row in the table of health begins with it; written as often as the worker's own.
REMOTE = "remote:"
#: A service that answers and refuses everything, until the operator does what the detail says.
_REFUSING = "refusing"


def health(ledger: Ledger) -> Blueprint:
    """Two routes that ask neither the forum nor a model: what the worker saw last is in the database."""
    routes = Blueprint("health", __name__)

    @routes.get("/healthz")
    def healthz() -> Response:
        return jsonify(status="ok")

    @routes.get("/readyz")
    def readyz() -> tuple[Response, int]:
        try:
            report = readiness(ledger)
        except DatabaseUnavailable:
            return jsonify(ready=False, database="unreachable", degraded=["database"]), 503
        return jsonify(report), 200

    return routes


def remotes() -> dict[str, tuple[str, str]]:
    """By remote service of this process: the worst state of its clients, and how to mend it where that is known."""
    worst: dict[str, tuple[str, str]] = {}
    for breaker in breakers():
        if breaker.refusal:
            worst[breaker.service] = (_REFUSING, breaker.refusal)
        elif worst.get(breaker.service, ("", ""))[0] not in (_REFUSING, BreakerState.OPEN):
            worst[breaker.service] = (breaker.state.value, "")
    return worst


def readiness(ledger: Ledger) -> dict[str, Any]:
    """Ready means: deliveries are taken in. `degraded` names the parts that are down. Raises DatabaseUnavailable."""
    rows = {
        row["name"].removeprefix(REMOTE): row
        for row in ledger.health()
        # What no worker calls any longer cannot be down.
        if not (row["name"].startswith(REMOTE) and row["age_s"] > _SILENT_S)
    }
    waiting, oldest_s = ledger.waiting()
    worker = rows.pop("worker", None)
    degraded = sorted(name for name, row in rows.items() if row["state"] not in ("ok", "closed"))
    if worker is None or worker["age_s"] > _SILENT_S:
        degraded.insert(0, "worker")
    return {
        "ready": True,
        "database": "ok",
        "degraded": degraded,
        "waiting": waiting,
        "oldest_waiting_s": round(oldest_s, 1),
        "reasons": {name: rows[name]["detail"] for name in degraded if name in rows and rows[name]["detail"]},
    }
