"""Counts what an answer was and how long each of its stages took."""

from __future__ import annotations

import structlog

from bot.metrics import ANSWERS, SENTENCES_DROPPED, STAGE_SECONDS, TOKENS
from forum.types import Answer

log = structlog.get_logger("threadcite.answer")


def observe(answer: Answer) -> Answer:
    """The answer, unchanged, after it was counted in this process's metrics; the log's lines carry its id from here."""
    structlog.contextvars.bind_contextvars(trace=answer.trace_id)
    log.info(
        "answered",
        zone=answer.zone.value,
        route=answer.route.value,
        ms=round(answer.timings_ms.get("total", 0.0)),
        degraded=list(answer.degraded),
    )
    ANSWERS.labels(zone=answer.zone.value, route=answer.route.value).inc()
    for record in answer.trace:
        STAGE_SECONDS.labels(stage=record.stage).observe(record.ms / 1000)
        for kind in ("prompt", "output"):
            tokens = record.data.get(f"{kind}_tokens")
            if isinstance(tokens, int):
                TOKENS.labels(kind=kind).inc(tokens)
        if record.stage == "verify":
            SENTENCES_DROPPED.inc(len(record.data.get("dropped") or ()))
    return answer
