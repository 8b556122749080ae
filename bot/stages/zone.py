"""Stage zone: how much the evidence is worth, from the top logit."""

from __future__ import annotations

from bot.stages.results import Evidence, Zoned
from forum.config import Config
from forum.types import Evaluation, Zone
from forum.zones import BUILT_IN, confidence, thresholds_for, zone_of


def zone(evidence: Evidence, config: Config) -> Zoned:
    """`abstain`, `weak` or `ok`; without sources `abstain`, without logits or with the flag off `ok`.

    Raises ModelMismatch when no thresholds were made for the model of these logits.
    """
    if not evidence.sources:
        return _zoned(Zone.ABSTAIN, evidence, 0.0, decision="abstain", reason=evidence.decision)
    top = evidence.sources[0].logit
    if top is None or not config.flags.zones:
        reason = "no reranker: the channels' order stands" if top is None else "zones are off"
        return _zoned(Zone.OK, evidence, 0.5 if top is None else confidence(top), decision="ok", reason=reason)
    limits = thresholds_for(evidence.model_id, (*config.reranker.zones, *BUILT_IN))
    found = zone_of(top, limits)
    reason = f"top logit {top:.2f}; abstain below {limits.abstain:g}, ok from {limits.ok:g} ({limits.model})"
    return _zoned(found, evidence, confidence(top), decision=found.value, reason=reason)


def _zoned(found: Zone, evidence: Evidence, sure: float, *, decision: str, reason: str) -> Zoned:
    return Zoned(
        decision=decision,
        reason=reason,
        zone=found,
        evidence=evidence,
        evaluation=Evaluation(has_answer=found is not Zone.ABSTAIN, confidence=sure, reason=reason),
        low_confidence=found is Zone.WEAK,
        data={"zone": found.value, "top": evidence.sources[0].logit if evidence.sources else None},
    )
