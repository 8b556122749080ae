"""Two rankings of the same questions, metric by metric: the difference, its interval, and how likely it is luck."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from eval.metrics import interval, paired_p

METRICS = ("hit@1", "hit@5", "hit@25", "mrr@10")

Ranks = Mapping[str, int | None]


def paired(one: Ranks, other: Ranks) -> dict[str, Any]:
    """`n` shared questions, and by metric a, b, difference with its 95 % interval, and p; n 0: nothing else.

    A rank is that of the first relevant topic, None when there was none.
    """
    shared = sorted(one.keys() & other.keys())
    report: dict[str, Any] = {"n": len(shared)}
    for name in METRICS if shared else ():
        left, right = (np.array([_value(name, ranks[key]) for key in shared]) for ranks in (one, other))
        report[name] = {
            "a": round(float(left.mean()), 4),
            "b": round(float(right.mean()), 4),
            "difference": round(float((left - right).mean()), 4),
            "difference_ci": interval(left - right),
            "p": round(paired_p(left, right), 4),
        }
    return report


def _value(metric: str, rank: int | None) -> float:
    kind, _, depth = metric.partition("@")
    if rank is None or rank > int(depth):
        return 0.0
    return 1.0 if kind == "hit" else 1.0 / rank
