"""Scores questions by fits that did not see them."""

from __future__ import annotations

from collections.abc import Sequence

from clients.features_reranker import Fit
from eval.runner import Found, with_order
from forum.features import level_features, order_features

#: The logit of a question for which nothing was found.
LOWEST = -50.0


def by_order(found: Sequence[Found], fit: Fit, *, links: bool = True) -> list[Found]:
    """Each question reranked; without link counts if so wished."""
    done: list[Found] = []
    for one in found:
        unseen = fit.for_question(one.asked.id)
        order = unseen.model.order if links else unseen.without_links
        done.append(with_order(one, [order.logit(row) for row in order_features(one.candidates)]))
    return done


def levels(found: Sequence[Found], fit: Fit) -> list[float]:
    """The top logit of each question: what its zone is read from."""
    out: list[float] = []
    for one in found:
        model = fit.for_question(one.asked.id).model
        orders = [model.order.logit(row) for row in order_features(one.candidates)]
        out.append(model.level.logit(level_features(one.candidates, orders)) if orders else LOWEST)
    return out


def how(found: Sequence[Found], fit: Fit) -> str:
    """What scored them, in words for the result."""
    if any(one.asked.id in fit.questions for one in found):
        return "fits that did not see the question (5 folds by question)"
    return "the committed coefficients, fitted on other questions"
