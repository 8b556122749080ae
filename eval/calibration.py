"""From scored questions to zone thresholds, and how honest the probabilities made from logits are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

Floats = NDArray[np.float64]

#: Above this many questions isotonic regression has enough to follow; below it overfits (Niculescu-Mizil 2005).
MANY = 1000
_BINS = 10
_SAMPLES = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Scored:
    """Top logits, and 1 where the forum answers the question, else 0."""

    logits: Floats
    labels: Floats


def smallest_safe_threshold(scored: Scored, *, most_wrong: float, confidence: float = 0.95) -> float | None:
    """The smallest logit at or above which the share of wrong answers is under `most_wrong`, with that confidence.

    Wrong: answered though the forum does not answer. The bound is Clopper and Pearson's upper one, 1934. None when no
    threshold is safe: there are too few questions, or the logits do not tell.
    """
    order = np.argsort(-scored.logits, kind="stable")
    logits, wrong = scored.logits[order], np.cumsum(1.0 - scored.labels[order])
    answered = np.arange(1, len(logits) + 1)
    bounds = np.where(wrong >= answered, 1.0, beta.ppf(confidence, wrong + 1, np.maximum(answered - wrong, 1e-9)))
    last = np.append(logits[1:] != logits[:-1], True)
    safe = np.flatnonzero((bounds < most_wrong) & last)
    return float(logits[safe[-1]]) if len(safe) else None


def threshold_interval(scored: Scored, *, most_wrong: float) -> tuple[float, float] | None:
    """The 95 % bootstrap interval of that threshold over resampled questions; None when most samples have none."""
    rng = np.random.default_rng(0)
    found: list[float] = []
    for _ in range(_SAMPLES):
        at = rng.integers(0, len(scored.logits), len(scored.logits))
        one = smallest_safe_threshold(Scored(logits=scored.logits[at], labels=scored.labels[at]), most_wrong=most_wrong)
        if one is not None:
            found.append(one)
    if len(found) < _SAMPLES / 2:
        return None
    low, high = np.percentile(found, [2.5, 97.5])
    return float(low), float(high)


def probabilities(scored: Scored, *, folds: int = 5) -> Floats:
    """P(answerable) of each question by a fit on the other folds: Platt's, or isotonic for more than MANY."""
    out = np.zeros(len(scored.logits))
    splits = StratifiedKFold(folds, shuffle=True, random_state=0).split(scored.logits, scored.labels)
    for train, test in splits:
        out[test] = _fitted(scored.logits[train], scored.labels[train], scored.logits[test])
    return out


def _fitted(logits: Floats, labels: Floats, asked: Floats) -> Floats:
    if len(logits) > MANY:
        return np.asarray(IsotonicRegression(out_of_bounds="clip").fit(logits, labels).predict(asked), np.float64)
    fit = LogisticRegression(C=1e6, max_iter=5000).fit(logits[:, None], labels)
    return np.asarray(fit.predict_proba(asked[:, None])[:, 1], np.float64)


def reliability(chances: Floats, labels: Floats) -> list[tuple[float, float, int]]:
    """(mean probability, share answerable, questions) by bins of equal size."""
    bins = np.array_split(np.argsort(chances, kind="stable"), _BINS)
    return [(float(chances[at].mean()), float(labels[at].mean()), len(at)) for at in bins if len(at)]


def expected_calibration_error(rows: Sequence[tuple[float, float, int]]) -> float:
    """Mean distance of probability and share, weighted by the bins' sizes. Naeini and others 2015."""
    whole = sum(count for _, _, count in rows)
    return sum(count * abs(chance - share) for chance, share, count in rows) / whole
