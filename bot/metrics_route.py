"""GET /metrics of the web process, and the same on a port of the worker's own."""

from __future__ import annotations

import time

from flask import Blueprint, Response, g, request
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest, start_http_server

from bot.database_metrics import BreakerMetrics, DatabaseMetrics
from bot.metrics import REQUEST_SECONDS, REQUESTS
from clients.postgres.pool import Database


def metrics(database: Database) -> Blueprint:
    """The process's own counters and the figures of the database, in Prometheus's text format."""
    routes = Blueprint("metrics", __name__)
    own = CollectorRegistry()
    own.register(DatabaseMetrics(database))
    own.register(BreakerMetrics())

    @routes.get("/metrics")
    def show() -> Response:
        return Response(generate_latest(REGISTRY) + generate_latest(own), content_type=CONTENT_TYPE_LATEST)

    routes.before_app_request(_begin)
    routes.after_app_request(_end)
    return routes


def serve_worker_metrics(address: str) -> None:
    """The worker's counters on HOST:PORT; an empty address: nowhere. Raises OSError when the port is taken."""
    if not address:
        return
    REGISTRY.register(BreakerMetrics())
    host, _, port = address.rpartition(":")
    start_http_server(int(port), addr=host or "0.0.0.0", registry=REGISTRY)  # noqa: S104 (the operator's word)


def _begin() -> None:
    g.began = time.perf_counter()


def _end(response: Response) -> Response:
    # The rule, not the path: a path holds ids, and anybody's scan would make a label of its own.
    route = request.url_rule.rule if request.url_rule else "none"
    REQUESTS.labels(route=route, status=str(response.status_code)).inc()
    REQUEST_SECONDS.labels(route=route).observe(time.perf_counter() - g.get("began", time.perf_counter()))
    return response
