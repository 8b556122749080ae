"""The end of a run: the answer with its trace, whole or cut short by a fixed reply."""

from __future__ import annotations

from bot.stages.results import Asked, Gated, Query, Rendered, Triaged, Zoned
from bot.trace import Trace
from forum.types import Answer, Evaluation, Route, Zone


def abridged(trace: Trace, asked: Asked, ended: Asked | Gated | Triaged) -> Answer:
    """An answer that is a fixed reply: nothing was looked up."""
    match ended:
        case Gated():
            route = Route.GATED
        case Triaged():
            route = Route.UNSAFE if ended.kind == "unsafe" else Route.CHITCHAT
        case _:
            route = Route.EMPTY
    return Answer(
        text=ended.reply,
        zone=Zone.ABSTAIN,
        route=route,
        language=asked.language,
        evaluation=Evaluation(has_answer=False, confidence=0.0, reason=ended.decision),
        trace_id=trace.id,
        trace=tuple(trace.records),
        timings_ms=trace.timings_ms(),
        degraded=tuple(trace.degraded),
    )


def finished(trace: Trace, query: Query, zoned: Zoned, rendered: Rendered) -> Answer:
    """The answer of a whole run."""
    return Answer(
        text=rendered.text,
        zone=zoned.zone if rendered.route is not Route.ABSTAINED else Zone.ABSTAIN,
        route=rendered.route,
        language=query.language,
        low_confidence=zoned.low_confidence,
        citations=rendered.citations,
        sources=zoned.evidence.sources,
        evaluation=zoned.evaluation,
        trace_id=trace.id,
        trace=tuple(trace.records),
        timings_ms=trace.timings_ms(),
        degraded=tuple(trace.degraded),
    )
