"""How well the top logit tells questions that the forum answers from those that it does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from forum.config import ZoneThresholds
from forum.zones import zone_of


def abstention_numbers(
    answerable: Sequence[float], unanswerable: Sequence[float], thresholds: ZoneThresholds
) -> dict[str, Any]:
    """`recall` of the unanswerable and `answerable_lost`, shares that fall into `abstain`; zones by kind.

    `lost_at_recall_90`: the share of the answerable below the logit that catches 90 % of the unanswerable.
    """
    yes, no = np.array(answerable, dtype=np.float64), np.array(unanswerable, dtype=np.float64)
    labels = np.concatenate([np.ones(len(yes)), np.zeros(len(no))])
    cut = float(np.quantile(no, 0.9, method="higher"))
    return {
        "auroc": round(float(roc_auc_score(labels, np.concatenate([yes, no]))), 4),
        "recall": round(float((no < thresholds.abstain).mean()), 4),
        "answerable_lost": round(float((yes < thresholds.abstain).mean()), 4),
        "lost_at_recall_90": round(float((yes <= cut).mean()), 4),
        "zones": {
            "answerable": _zones(answerable, thresholds),
            "unanswerable": _zones(unanswerable, thresholds),
        },
        "thresholds": {"model": thresholds.model, "abstain": thresholds.abstain, "ok": thresholds.ok},
    }


def _zones(logits: Sequence[float], thresholds: ZoneThresholds) -> dict[str, int]:
    counts = Counter(zone_of(logit, thresholds).value for logit in logits)
    return {name: counts[name] for name in ("abstain", "weak", "ok")}
