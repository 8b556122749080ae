"""Fits the logistic models of the features reranker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from clients.features_reranker import FOLDS, fold_of
from eval.runner import Found
from forum.features import Logistic, level_features, order_features

Floats = NDArray[np.float64]
#: One group a form of the questions, the full one first.
Groups = Sequence[Sequence[Found]]
#: Features by name.
Row = Mapping[str, float]

#: The archive of the fit tells neither likes, acceptance nor staff, so nothing can be fitted for them.
NOT_FITTED = frozenset(("topic_likes", "accepted", "staff"))
OF_LINKS = frozenset(("links_in",))
#: What a question without vectors has no value for.
OF_VECTORS = frozenset(("cosine", "cosine_gap", "rank_posts", "rrf", "agreement", "sized_cosine"))
#: The level's features: few, each free of the forum's size, chosen for what carries over from one forum to another
#: (fitted on the archive, tried on the practice forum, 47 times smaller); the rest of `level_features` describes one
#: forum's own statistics.
LEVEL = ("sized_cosine", "top_coverage", "strange", "top_title", "agreement")
#: The L2 penalty of the order, and the inverse strength of the level's, on features of spread 1.
_L2_ORDER, _C_LEVEL = 2.0, 0.1
#: What a question of a further forum counts beside one of the first: enough that the order holds there too, and little
#: enough that the first loses nothing (chosen by cross-validation on both).
ALSO = 0.3


@dataclass(frozen=True, kw_only=True, slots=True)
class Forum:
    """What was found on one forum for its questions, in both of their forms."""

    answerable: Groups
    unanswerable: Groups

    def but(self, fold: int) -> Forum:
        """Without the questions of one fifth."""
        return Forum(answerable=_but(self.answerable, fold), unanswerable=_but(self.unanswerable, fold))


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


def order_rows(found: Found) -> Sequence[Row]:
    """One row of features a candidate, in the order of fusion."""
    return order_features(found.candidates)


def fit_order(
    forums: Sequence[Sequence[tuple[Found, Sequence[Row]]]], without: frozenset[str] = frozenset()
) -> Logistic:
    """Which candidate of a question is of a relevant topic; a question whose candidates are none teaches nothing.

    Listwise: the chance that a relevant candidate is the first, candidates being drawn by softmax of their logits
    (the conditional logit of McFadden 1974). The intercept says nothing and is 0. The first forum's questions count
    whole, the others' ALSO each.
    """
    names: list[str] = []
    rows: list[list[float]] = []
    relevant: list[bool] = []
    question: list[int] = []
    weights: list[float] = []
    for at, examples in enumerate(forums):
        for one, values in examples:
            right = [candidate.passage.topic_id in one.asked.relevant_topics for candidate in one.candidates]
            if not any(right):
                continue
            names = names or [name for name in values[0] if name not in NOT_FITTED | without]
            rows += [[row[name] for name in names] for row in values]
            relevant += right
            question += [len(weights)] * len(right)
            weights.append(ALSO if at else 1.0)
    fitted = _listwise(np.array(rows), np.array(relevant), np.array(question), np.array(weights))
    return Logistic(intercept=0.0, weights=dict(zip(names, map(float, fitted), strict=True)))


def _listwise(rows: Floats, relevant: NDArray[np.bool_], question: NDArray[np.int_], weights: Floats) -> Floats:
    """The coefficients in raw units; `question` counts up from 0 over the rows, `weights` has one value a question."""
    spread = rows.std(axis=0)
    spread[spread < 1e-9] = 1.0
    scaled = rows / spread
    starts = np.flatnonzero(np.append(True, question[1:] != question[:-1]))

    def loss(coefficients: Floats) -> tuple[float, Floats]:
        logits = scaled @ coefficients
        chances = np.exp(logits - np.maximum.reduceat(logits, starts)[question])
        all_, right = np.add.reduceat(chances, starts), np.add.reduceat(chances * relevant, starts)
        slope = (chances / all_[question] - chances * relevant / right[question]) * weights[question]
        value = float((weights * np.log(all_ / right)).sum() + _L2_ORDER * (coefficients @ coefficients) / 2)
        return value, scaled.T @ slope + _L2_ORDER * coefficients

    found = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B")
    return np.asarray(found.x / spread, dtype=np.float64)


def fit_level(forum: Forum, order: Logistic, *, without: frozenset[str] = frozenset()) -> Logistic:
    """Whether the forum answers at all. Each group of questions counts the same, however many it has.

    One forum's questions: fitted on two, it told neither's apart as well as it tells both by the first alone.
    """
    names = [name for name in LEVEL if name not in without]
    rows: list[list[float]] = []
    labels: list[float] = []
    weights: list[float] = []
    for label, groups in ((1.0, forum.answerable), (0.0, forum.unanswerable)):
        for group in groups:
            values = [level_row(one, order) for one in group if one.candidates]
            rows += [[row[name] for name in names] for row in values]
            labels += [label] * len(values)
            weights += [1.0 / max(len(values), 1)] * len(values)
    balanced = np.array(weights) * len(weights) / sum(weights)
    return logistic(np.array(rows), np.array(labels), names, weights=balanced, c=_C_LEVEL)


def level_row(found: Found, order: Logistic) -> Row:
    orders = [order.logit(values) for values in order_features(found.candidates)]
    return level_features(found.candidates, orders)


def fit_all(forums: Sequence[Forum], *, without: frozenset[str] = frozenset()) -> dict[str, object]:
    """The coefficients file's entry for one embedder: the fit on everything, and one without each fifth."""
    ids = {one.asked.id for forum in forums for group in (*forum.answerable, *forum.unanswerable) for one in group}
    folds = [_entry([forum.but(fold) for forum in forums], without) for fold in range(FOLDS)]
    return {**_entry(forums, without), "questions": sorted(ids), "folds": folds}


def _entry(forums: Sequence[Forum], without: frozenset[str]) -> dict[str, object]:
    examples = [[(one, order_rows(one)) for one in forum.answerable[0]] for forum in forums]
    order = fit_order(examples, without)
    return {
        "order": _json(order),
        "order_without_links": _json(fit_order(examples, without | OF_LINKS)),
        "level": _json(fit_level(forums[0], order, without=without)),
    }


def _but(groups: Groups, fold: int) -> Groups:
    return [[one for one in group if fold_of(one.asked.id) != fold] for group in groups]


def _json(fit: Logistic) -> dict[str, object]:
    return {
        "intercept": round(fit.intercept, 5),
        "weights": {name: round(weight, 5) for name, weight in fit.weights.items()},
    }
