"""From the top logit to the zone, and from the zone to how much the evidence is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence

from forum.config import ZoneThresholds
from forum.errors import ModelMismatch
from forum.types import Zone

#: The cross-encoder's are the design's. A logit of `features` is the log-odds that the forum answers, answerable and
#: unanswerable questions being equally many: it abstains under a fifth, and is firm over nine tenths. Both borders were
#: set on the practice forum (at most a tenth of the answerable meet silence, at most a tenth of the others a firm
#: answer) and checked on the archive: see docs/retrieval.md.
BUILT_IN = (
    ZoneThresholds(model="cross-encoder/mmarco-mMiniLMv2-L12-H384-v1", abstain=-4.0, ok=0.0, calibrated_on="design"),
    ZoneThresholds(model="features", abstain=-1.4, ok=2.4, calibrated_on="eval/questions/practice"),
)


def zone_of(top: float, thresholds: ZoneThresholds) -> Zone:
    """`abstain` below `abstain`, `weak` from there up to `ok`, `ok` from `ok` up."""
    if top < thresholds.abstain:
        return Zone.ABSTAIN
    return Zone.OK if top >= thresholds.ok else Zone.WEAK


def thresholds_for(model_id: str, known: Sequence[ZoneThresholds]) -> ZoneThresholds:
    """The thresholds made for this model; the first that names it wins, so put the config's before the built-in.

    Raises ModelMismatch when none was: another model's thresholds say nothing about these logits.
    """
    for thresholds in known:
        if _same(thresholds.model, model_id):
            return thresholds
    names = ", ".join(sorted({thresholds.model for thresholds in known})) or "none"
    raise ModelMismatch(
        f"reranker.zones: no thresholds for {model_id} (there are some for: {names}). "
        f"Run `python -m eval calibrate` with this reranker and put its result into config.yml."
    )


def confidence(logit: float) -> float:
    """The sigmoid of a logit, 0 to 1, without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    return math.exp(logit) / (1.0 + math.exp(logit))


def _same(named: str, model_id: str) -> bool:
    return named == model_id or named.rsplit("/", 1)[-1] == model_id.rsplit("/", 1)[-1]
