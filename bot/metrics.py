"""Every metric of the bot, declared in one place; docs/metrics.md explains each to the operator."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import Counter, Histogram

DELIVERIES = Counter("threadcite_deliveries", "Webhook deliveries by what became of them", ["outcome"])
ASKS = Counter("threadcite_asks", "Asks by the state in which they ended", ["state"])
ANSWER_SECONDS = Histogram(
    "threadcite_answer_seconds", "Making one answer", buckets=(0.1, 0.3, 1, 3, 10, 30, 60, 120, 300)
)
DEGRADED = Counter("threadcite_degraded", "Answers made without a part that was down", ["part"])
POST_FAILURES = Counter("threadcite_post_failures", "Attempts to post that did not end well", ["kind"])
CORRECTIONS = Counter("threadcite_corrections", "Replies edited because a source changed or went")
ANSWERS = Counter("threadcite_answers", "Answers made, by zone and route", ["zone", "route"])
STAGE_SECONDS = Histogram(
    "threadcite_stage_seconds",
    "One stage of an answer",
    ["stage"],
    buckets=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 120),
)
TOKENS = Counter("threadcite_llm_tokens", "Tokens that the LLM read (prompt) and wrote (output)", ["kind"])
SENTENCES_DROPPED = Counter("threadcite_sentences_dropped", "Sentences of the LLM that the cited posts do not support")
REQUESTS = Counter("threadcite_http_requests", "Requests to the web process", ["route", "status"])
REQUEST_SECONDS = Histogram(
    "threadcite_http_request_seconds", "Answering a request", ["route"], buckets=(0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10)
)

#: Read from the database when the metrics are asked for: name -> (what it is, its labels).
READ: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "threadcite_database_up": ("1 while the database answers", ()),
    "threadcite_asks_now": ("Rows of the ledger", ("state",)),
    "threadcite_open_asks": ("Questions that wait for their reply", ()),
    "threadcite_open_asks_oldest_seconds": ("Age of the oldest of them", ()),
    "threadcite_queue_depth": ("Jobs that wait", ("lane",)),
    "threadcite_queue_oldest_seconds": ("How long the oldest job that may run has waited", ("lane",)),
    "threadcite_index_posts": ("Posts in the keyword channel", ()),
    "threadcite_index_vectors": ("Vectors of the active model (an estimate)", ()),
    "threadcite_index_waiting": ("Deliveries of the forum that are not yet in the index", ()),
    "threadcite_index_lag_seconds": ("Age of the oldest of them", ()),
    "threadcite_index_set_aside": ("Posts that could not be embedded", ()),
    "threadcite_index_drift": ("Differences that the last reconcile run found", ()),
    "threadcite_open_gaps": ("Groups of questions that the forum does not answer", ()),
    "threadcite_part_up": ("1 while a part (worker, remote service, config) is well", ("part",)),
    "threadcite_part_seen_seconds": ("Since when nothing was heard of it", ("part",)),
    "threadcite_config_refused": ("1 while config.yml is wrong and the old one is in force", ()),
}
#: Read from this process's breakers: one a remote service.
BREAKERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "threadcite_breaker_open": ("1 while calls to a remote service are refused at once", ("service",)),
    "threadcite_remote_errors": ("Calls to a remote service that found it unavailable", ("service",)),
    "threadcite_remote_refusing": ("1 while a model server refuses all, until the operator mends it", ("service",)),
}
