"""Every metric of the bot, declared in one place; docs/metrics.md explains each to the operator."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

DELIVERIES = Counter("threadcite_deliveries", "Webhook deliveries by what became of them", ["outcome"])
ASKS = Counter("threadcite_asks", "Asks by the state in which they ended", ["state"])
ANSWER_SECONDS = Histogram(
    "threadcite_answer_seconds", "Making one answer", buckets=(0.1, 0.3, 1, 3, 10, 30, 60, 120, 300)
)
DEGRADED = Counter("threadcite_degraded", "Answers made without a part that was down", ["part"])
POST_FAILURES = Counter("threadcite_post_failures", "Attempts to post that did not end well", ["kind"])
CORRECTIONS = Counter("threadcite_corrections", "Replies edited because a source changed or went")
BREAKER_OPEN = Gauge("threadcite_breaker_open", "1 while calls to a remote service are refused at once", ["service"])
