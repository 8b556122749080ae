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
        evaluation=_evaluation(trace, zoned, rendered),
        trace_id=trace.id,
        trace=tuple(trace.records),
        timings_ms=trace.timings_ms(),
        degraded=tuple(trace.degraded),
    )


def _evaluation(trace: Trace, zoned: Zoned, rendered: Rendered) -> Evaluation:
    """The verdict on the evidence; a refusal by a later stage, which has read it whole, overrules it."""
    if rendered.route is Route.ANSWERED or not zoned.evaluation.has_answer:
        return zoned.evaluation
    why = next((one.reason for one in reversed(trace.records) if one.decision == "refusal" and one.reason), "")
    return Evaluation(has_answer=False, confidence=0.0, reason=why or "nothing in the sources could be cited")
