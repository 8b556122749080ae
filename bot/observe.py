"""Counts what an answer was and how long each of its stages took."""

from __future__ import annotations

from bot.metrics import ANSWERS, SENTENCES_DROPPED, STAGE_SECONDS, TOKENS
from forum.types import Answer


def observe(answer: Answer) -> Answer:
    """The answer, unchanged, after it was counted in this process's metrics."""
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
