"""Fits the logistic models of the features reranker, and scores questions by fits that never saw them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from eval.runner import Found, with_order
from forum.features import Logistic, level_features, order_features

Floats = NDArray[np.float64]

#: The archive of the fit tells neither likes, acceptance nor staff, so nothing can be fitted for them.
NOT_FITTED = frozenset(("topic_likes", "accepted", "staff"))
#: What a question without vectors has no value for.
OF_VECTORS = frozenset(("cosine", "cosine_gap", "rank_posts", "agreement", "top_cosine"))
#: The level's features: few, each a share or a cosine, chosen for what carries over from one forum to another
#: (fitted on one archive, tried on the other); the rest of `level_features` describes one forum's own statistics.
LEVEL = ("top_cosine", "top_coverage", "rare_coverage", "unknown", "top_bm25", "agreement", "terms")
FOLDS = 5
#: The logit of a question for which nothing was found.
LOWEST = -50.0
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
    answerable: Sequence[Sequence[Found]],
    unanswerable: Sequence[Sequence[Found]],
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


def out_of_fold(found: Sequence[Found], *, without: frozenset[str] = frozenset()) -> list[Found]:
    """Each question reranked by a fit on the other four fifths of the questions."""
    done: dict[int, Found] = {}
    for train, test in _folds(len(found)):
        order = fit_order([found[at] for at in train], without=without)
        for at in test:
            one = found[at]
            done[at] = with_order(one, [order.logit(values) for values in order_features(one.candidates)])
    return [done[at] for at in range(len(found))]


def out_of_fold_levels(
    answerable: Sequence[Sequence[Found]],
    unanswerable: Sequence[Sequence[Found]],
    *,
    without: frozenset[str] = frozenset(),
) -> tuple[list[float], list[float]]:
    """The top logit of each question of the two first groups, by fits that saw none of its forms.

    A question without candidates gets the lowest logit there is.
    """
    levels: tuple[dict[str, float], dict[str, float]] = ({}, {})
    splits = zip(_folds(len(answerable[0])), _folds(len(unanswerable[0])), strict=True)
    for (_, of_answerable), (_, of_unanswerable) in splits:
        tested = [answerable[0][at] for at in of_answerable], [unanswerable[0][at] for at in of_unanswerable]
        held = {one.asked.id for group in tested for one in group}
        known = _but(answerable, held)
        order = fit_order(known[0], without=without)
        level = fit_level(known, _but(unanswerable, held), order, without=without)
        for place, group in zip(levels, tested, strict=True):
            place.update(
                {one.asked.id: level.logit(level_row(one, order)) if one.candidates else LOWEST for one in group}
            )
    yes, no = levels
    return [yes[one.asked.id] for one in answerable[0]], [no[one.asked.id] for one in unanswerable[0]]


def _but(groups: Sequence[Sequence[Found]], held: set[str]) -> list[list[Found]]:
    return [[one for one in group if one.asked.id not in held] for group in groups]


def _folds(count: int) -> Iterator[tuple[list[int], list[int]]]:
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(np.arange(count)):
        yield train.tolist(), test.tolist()


def as_json(fit: Logistic) -> dict[str, object]:
    return {
        "intercept": round(fit.intercept, 5),
        "weights": {name: round(weight, 5) for name, weight in fit.weights.items()},
    }
