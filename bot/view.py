"""An answer as the JSON of the contract: `bot ask --json`, `POST /ask` and the stored trace share it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from clients.console import plain
from forum.types import Answer, Candidate, Citation


def view(answer: Answer) -> dict[str, Any]:
    """The public keys of an answer: what was said, on what it rests, how it was found."""
    return {
        "answer": answer.text,
        "zone": answer.zone.value,
        "route": answer.route.value,
        "language": answer.language,
        "low_confidence": answer.low_confidence,
        "citations": [_citation(citation) for citation in answer.citations],
        "sources": [_source(n, candidate) for n, candidate in enumerate(answer.sources, 1)],
        "retrieval_evaluation": {
            "has_answer": answer.evaluation.has_answer,
            "confidence": round(answer.evaluation.confidence, 4),
            "reason": answer.evaluation.reason,
        },
        "trace_id": answer.trace_id,
        "timings_ms": {stage: round(ms, 1) for stage, ms in answer.timings_ms.items()},
        "degraded": list(answer.degraded),
    }


def view_trace(answer: Answer) -> dict[str, Any]:
    """The answer with every stage's decision, reason and data."""
    stages = [
        {
            "stage": r.stage,
            "decision": r.decision,
            "reason": r.reason,
            "ms": r.ms,
            "data": plain(r.data),
            "calls": [asdict(call) for call in r.calls],
        }
        for r in answer.trace
    ]
    return {**view(answer), "stages": stages}


def _citation(citation: Citation) -> dict[str, Any]:
    return {
        "n": citation.n,
        "url": citation.url,
        "post_id": citation.post_id,
        "topic_id": citation.topic_id,
        "post_number": citation.post_number,
        "content_id": citation.content_id,
        "quote": citation.quote,
    }


def _source(n: int, candidate: Candidate) -> dict[str, Any]:
    passage = candidate.passage
    return {
        "n": n,
        "post_id": passage.post_id,
        "topic_id": passage.topic_id,
        "post_number": passage.post_number,
        "content_id": passage.content_id,
        "title": passage.title,
        "created_at": plain(passage.created_at),
        "accepted": passage.signals.accepted,
        "ranks": dict(candidate.ranks),
        "scores": {channel: round(score, 4) for channel, score in candidate.scores.items()},
        "rrf": round(candidate.rrf, 6),
        "ce": None if candidate.logit is None else round(candidate.logit, 4),
    }
