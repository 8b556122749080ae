"""A question that a fit has seen is scored by the fold that has not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clients.features_reranker import FOLDS, Fit, fold_of
from eval.runner import Found
from eval.unseen import LOWEST, by_order, how, levels
from forum.features import Logistic, Model
from forum.types import Match

Made = Callable[..., Found]


def _fit(mark: float) -> Fit:
    """Logits that say whose they are: `mark`, and a thousand more without links."""
    order = Logistic(intercept=mark, weights={"cosine": 1.0})
    level = Logistic(intercept=mark, weights={})
    return Fit(model=Model(order=order, level=level), without_links=Logistic(intercept=mark + 1000, weights={}))


@pytest.fixture
def fit() -> Fit:
    whole = _fit(100)
    return Fit(
        model=whole.model,
        without_links=whole.without_links,
        folds=tuple(_fit(at) for at in range(FOLDS)),
        questions=frozenset(("seen",)),
    )


@pytest.fixture
def found(made_found: Made) -> list[Found]:
    return [made_found(id, [Match(cosine=0.0), Match(cosine=0.5)]) for id in ("seen", "new")]


def test_levels_are_the_folds_for_what_was_seen_and_the_whole_fits_for_what_is_new(
    found: list[Found], fit: Fit
) -> None:
    assert levels(found, fit) == [fold_of("seen"), 100]


def test_nothing_found_has_the_lowest_level(made_found: Made, fit: Fit) -> None:
    assert levels([made_found("new", [])], fit) == [LOWEST]


def test_candidates_are_ordered_by_those_fits_too(found: list[Found], fit: Fit) -> None:
    ranked = by_order(found, fit)
    assert [[one.passage.topic_id for one in each.reranked] for each in ranked] == [[2, 1], [2, 1]]
    assert [each.top() for each in ranked] == [fold_of("seen") + 0.5, 100.5]


def test_without_links_it_is_their_order_that_knows_none(found: list[Found], fit: Fit) -> None:
    ranked = by_order(found, fit, links=False)
    assert [each.top() for each in ranked] == [fold_of("seen") + 1000, 1100]
    assert [one.passage.topic_id for one in ranked[0].reranked] == [1, 2]


def test_the_result_says_which_fits_they_were(found: list[Found], fit: Fit) -> None:
    assert "did not see" in how(found, fit)
    assert "other questions" in how(found[1:], fit)
