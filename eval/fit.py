"""Fits the logistic models of the features reranker."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from clients.features_reranker import FOLDS, fold_of
from eval.runner import Found
from forum.features import Logistic, level_features, order_features

Floats = NDArray[np.float64]
#: One group a form of the questions, the full one first.
Groups = Sequence[Sequence[Found]]

#: The archive of the fit tells neither likes, acceptance nor staff, so nothing can be fitted for them.
NOT_FITTED = frozenset(("topic_likes", "accepted", "staff"))
OF_LINKS = frozenset(("links_in",))
#: What a question without vectors has no value for.
OF_VECTORS = frozenset(("cosine", "cosine_gap", "rank_posts", "agreement", "sized_cosine"))
#: The level's features: few, each free of the forum's size, chosen for what carries over from one forum to another
#: (fitted on the archive, tried on the practice forum, 47 times smaller); the rest of `level_features` describes one
#: forum's own statistics.
LEVEL = ("sized_cosine", "top_coverage", "strange", "top_title", "agreement")
#: Inverse strength of the L2 penalty on standardised features.
_C_ORDER, _C_LEVEL = 1.0, 0.1


def logistic(
    rows: Floats, labels: Floats, names: Sequence[str], *, weights: Floats | None = None, c: float
) -> Logistic:
    """A fit in raw units: standardised for the penalty, then folded back."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    spread[spread < 1e-9] = 1.0
    fitted = LogisticRegression(C=c, max_iter=5000).fit((rows - mean) / spread, labels, sample_weight=weights)
    coefficients = fitted.coef_[0] / spread
    return Logistic(
        intercept=float(fitted.intercept_[0] - (coefficients * mean).sum()),
        weights={name: float(value) for name, value in zip(names, coefficients, strict=True)},
    )


def fit_order(found: Sequence[Found], *, without: frozenset[str] = frozenset()) -> Logistic:
    """Which candidate is of a relevant topic: one row a candidate, over all questions."""
    rows: list[list[float]] = []
    labels: list[float] = []
    names: list[str] = []
    for one in found:
        for candidate, values in zip(one.candidates, order_features(one.candidates), strict=True):
            names = [name for name in values if name not in NOT_FITTED | without]
            rows.append([values[name] for name in names])
            labels.append(float(candidate.passage.topic_id in one.asked.relevant_topics))
    return logistic(np.array(rows), np.array(labels), names, c=_C_ORDER)


def fit_level(
    answerable: Groups,
    unanswerable: Groups,
    order: Logistic,
    *,
    without: frozenset[str] = frozenset(),
) -> Logistic:
    """Whether the forum answers at all. Each group of questions counts the same, however many it has."""
    names = [name for name in LEVEL if name not in without]
    rows: list[list[float]] = []
    labels: list[float] = []
    weights: list[float] = []
    for label, groups in ((1.0, answerable), (0.0, unanswerable)):
        for group in groups:
            values = [level_row(one, order) for one in group if one.candidates]
            rows += [[row[name] for name in names] for row in values]
            labels += [label] * len(values)
            weights += [1.0 / max(len(values), 1)] * len(values)
    balanced = np.array(weights) * len(weights) / sum(weights)
    return logistic(np.array(rows), np.array(labels), names, weights=balanced, c=_C_LEVEL)


def level_row(found: Found, order: Logistic) -> dict[str, float]:
    orders = [order.logit(values) for values in order_features(found.candidates)]
    return level_features(found.candidates, orders)


def fit_all(answerable: Groups, unanswerable: Groups, *, without: frozenset[str] = frozenset()) -> dict[str, object]:
    """The coefficients file's entry for one embedder: the fit on everything, and one without each fifth."""
    ids = {one.asked.id for group in (*answerable, *unanswerable) for one in group}
    folds = [_entry(_but(answerable, fold), _but(unanswerable, fold), without) for fold in range(FOLDS)]
    return {**_entry(answerable, unanswerable, without), "questions": sorted(ids), "folds": folds}


def _entry(answerable: Groups, unanswerable: Groups, without: frozenset[str]) -> dict[str, object]:
    order = fit_order(answerable[0], without=without)
    return {
        "order": _json(order),
        "order_without_links": _json(fit_order(answerable[0], without=without | OF_LINKS)),
        "level": _json(fit_level(answerable, unanswerable, order, without=without)),
    }


def _but(groups: Groups, fold: int) -> list[list[Found]]:
    return [[one for one in group if fold_of(one.asked.id) != fold] for group in groups]


def _json(fit: Logistic) -> dict[str, object]:
    return {
        "intercept": round(fit.intercept, 5),
        "weights": {name: round(weight, 5) for name, weight in fit.weights.items()},
    }
