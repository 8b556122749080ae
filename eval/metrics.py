"""The numbers of a ranking: hit, reciprocal rank, nDCG a question, and their bootstrap intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

#: Name -> what it is computed by; `evaluate` uses them in this order.
NAMES = ("hit@1", "hit@5", "hit@25", "mrr@10", "ndcg@10")
_SAMPLES = 2000


def of_ranking(topics: Sequence[int], grades: Mapping[int, int]) -> dict[str, float]:
    """The metrics of one ranking of topics, best first; `grades` holds the relevant ones.

    Hit and reciprocal rank ask for any relevant topic.
    """
    first = next((rank for rank, topic in enumerate(topics, start=1) if grades.get(topic, 0) > 0), None)
    values = {f"hit@{k}": float(first is not None and first <= k) for k in (1, 5, 25)}
    values["mrr@10"] = 1.0 / first if first is not None and first <= 10 else 0.0
    values["ndcg@10"] = _ndcg(topics, grades, 10)
    return values


def _ndcg(topics: Sequence[int], grades: Mapping[int, int], k: int) -> float:
    """Jarvelin and Kekalainen 2002 with linear gain, as trec_eval's ndcg_cut."""
    gains = [grades.get(topic, 0) for topic in topics[:k]]
    ideal = sorted(grades.values(), reverse=True)[:k]
    best = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(ideal, start=1))
    got = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
    return got / best if best else 0.0


def summary(rows: Sequence[Mapping[str, float]]) -> dict[str, object]:
    """Mean of each metric over the questions, and NAME_ci, its 95 % interval."""
    out: dict[str, object] = {}
    for name in NAMES:
        values = np.array([row[name] for row in rows], dtype=np.float64)
        out[name] = round(float(values.mean()), 4) if len(values) else None
        out[f"{name}_ci"] = interval(values)
    return out


def interval(values: NDArray[np.float64]) -> list[float]:
    """The 95 % percentile bootstrap interval of the mean, 2,000 resamples of the questions, seed fixed."""
    if not len(values):
        return [0.0, 0.0]
    drawn = np.random.default_rng(0).integers(0, len(values), size=(_SAMPLES, len(values)))
    low, high = np.percentile(values[drawn].mean(axis=1), [2.5, 97.5])
    return [round(float(low), 4), round(float(high), 4)]


def paired_p(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Two-sided p of a paired randomisation test (Fisher; Smucker and others 2007), 10,000 sign flips, seed fixed."""
    differences = one - other
    observed = abs(float(differences.mean()))
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(10_000, len(differences)))
    flipped = np.abs((signs * differences).mean(axis=1))
    return float((1 + (flipped >= observed - 1e-12).sum()) / (1 + len(flipped)))
