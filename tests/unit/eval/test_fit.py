"""The fits find the order and the level that made the questions, and none saw the question that it is asked about."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs the `eval` extra")

from clients.features_reranker import FOLDS, fold_of, read_fits
from eval.fit import LEVEL, NOT_FITTED, OF_LINKS, Forum, fit_all, fit_level, fit_order, level_row, logistic, order_rows
from eval.runner import Found
from forum.features import Logistic
from forum.types import Match

Made = Callable[..., Found]
_CANDIDATES = 6


def _questions(made: Made, count: int, *, cosine: float = 12.0, coverage: float = 3.0, seed: int = 0) -> list[Found]:
    """The relevant topic is drawn by softmax of cosine and coverage, weighed as told: what `fit_order` assumes."""
    rng = np.random.default_rng(seed)
    done = []
    for at in range(count):
        values = rng.random((_CANDIDATES, 2))
        logits = values @ (cosine, coverage) + rng.gumbel(size=_CANDIDATES)
        matches = [Match(cosine=one, coverage=other) for one, other in values.tolist()]
        done.append(made(f"{seed}-{at}", matches, relevant=[int(logits.argmax()) + 1]))
    return done


def _examples(found: Sequence[Found]) -> list[tuple[Found, Any]]:
    return [(one, order_rows(one)) for one in found]


def _of_cosine(fit: Logistic) -> float:
    """Within a question a cosine more is a gap less."""
    return fit.weights["cosine"] - fit.weights["cosine_gap"]


def test_a_logistic_fit_is_in_the_units_of_its_features() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20_000, 2)) * (1, 1000) + (0, 500)
    chances = 1 / (1 + np.exp(-(2 * rows[:, 0] - 0.001 * rows[:, 1] + 0.5)))
    labels = (rng.random(len(rows)) < chances).astype(np.float64)
    fit = logistic(rows, labels, ("small", "large"), c=1e6)
    assert fit.intercept == pytest.approx(0.5, abs=0.1)
    assert fit.weights == pytest.approx({"small": 2.0, "large": -0.001}, rel=0.1)


def test_a_feature_that_never_changes_counts_nothing() -> None:
    rows = np.array([[value, 7.0] for value in range(20)])
    fit = logistic(rows, (rows[:, 0] > 9).astype(np.float64), ("varies", "same"), c=1.0)
    assert fit.weights["same"] == pytest.approx(0.0, abs=1e-9)
    assert fit.weights["varies"] > 0


def test_a_row_of_weight_three_is_three_rows() -> None:
    rng = np.random.default_rng(1)
    rows, labels = rng.normal(size=(200, 1)), (rng.random(200) < 0.5).astype(np.float64)
    weights = np.where(np.arange(200) < 60, 3.0, 1.0)
    weighed = logistic(rows, labels, ("x",), weights=weights, c=1e6)
    times = weights.astype(int)
    repeated = logistic(np.repeat(rows, times, axis=0), np.repeat(labels, times), ("x",), c=1e6)
    assert weighed.logit({"x": 1.5}) == pytest.approx(repeated.logit({"x": 1.5}), abs=1e-3)
    assert weighed.logit({"x": 1.5}) != pytest.approx(logistic(rows, labels, ("x",), c=1e6).logit({"x": 1.5}), abs=1e-3)


def test_the_order_that_made_the_questions_is_found(made_found: Made) -> None:
    fit = fit_order([_examples(_questions(made_found, 500))])
    assert _of_cosine(fit) == pytest.approx(12.0, rel=0.2)
    assert _of_cosine(fit) / fit.weights["coverage"] == pytest.approx(4.0, rel=0.25)
    assert fit.intercept == 0.0


def test_only_what_can_be_fitted_has_a_weight(made_found: Made) -> None:
    examples = _examples(_questions(made_found, 20))
    every = set(examples[0][1][0])
    assert set(fit_order([examples], OF_LINKS).weights) == every - NOT_FITTED - OF_LINKS


def test_a_question_without_a_relevant_candidate_teaches_nothing(made_found: Made) -> None:
    taught = _examples(_questions(made_found, 30))
    lost = made_found("lost", [Match(cosine=0.1), Match(cosine=0.9)], relevant=[99])
    assert fit_order([[*_examples([lost]), *taught]]) == fit_order([taught])


def test_the_same_questions_give_the_same_fit_in_any_order(made_found: Made) -> None:
    examples = _examples(_questions(made_found, 60))
    assert fit_order([examples]) == fit_order([examples])
    turned = fit_order([examples[::-1]])
    assert turned.weights == pytest.approx(dict(fit_order([examples]).weights), abs=1e-3)


def test_where_two_forums_disagree_the_first_decides(made_found: Made) -> None:
    one, other = (
        _examples(_questions(made_found, 80, cosine=cosine, seed=at)) for at, cosine in enumerate((10.0, -10.0))
    )
    assert _of_cosine(fit_order([one, other])) > 1
    assert _of_cosine(fit_order([other, one])) < -1


def _forum(made: Made, answerable: int = 20, unanswerable: int = 100) -> Forum:
    """What is answered is covered better, by and large."""
    rng = np.random.default_rng(2)

    def questions(kind: str, count: int, coverage: float) -> list[Found]:
        return [
            made(
                f"{kind}-{at}",
                [Match(cosine=rng.random(), coverage=coverage + rng.random()) for _ in range(3)],
                relevant=[1],
            )
            for at in range(count)
        ]

    return Forum(
        answerable=[questions("yes", answerable, 0.4)] * 2, unanswerable=[questions("no", unanswerable, 0.0)] * 2
    )


def _chances(found: Sequence[Found], level: Logistic, order: Logistic) -> Any:
    return 1 / (1 + np.exp(-np.array([level.logit(level_row(one, order)) for one in found])))


def test_the_level_takes_both_kinds_for_as_likely_however_many_there_are_of_each(made_found: Made) -> None:
    forum = _forum(made_found)
    order = fit_order([_examples(forum.answerable[0])])
    level = fit_level(forum, order)
    yes, no = (_chances(groups[0], level, order).mean() for groups in (forum.answerable, forum.unanswerable))
    assert yes + no == pytest.approx(1.0, abs=1e-3)
    assert yes > 0.6
    assert set(level.weights) == set(LEVEL)


def test_a_question_that_found_nothing_is_no_example_of_a_level(made_found: Made) -> None:
    forum = _forum(made_found)
    order = fit_order([_examples(forum.answerable[0])])
    silent = Forum(
        answerable=forum.answerable, unanswerable=[[*one, made_found("nothing", [])] for one in forum.unanswerable]
    )
    assert fit_level(silent, order) == fit_level(forum, order)


def test_each_fold_of_a_coefficients_file_left_its_questions_out(made_found: Made, tmp_path: Path) -> None:
    """Only one question has linked topics, so a fit that weighs links has seen it."""
    forum = _forum(made_found, unanswerable=20)
    linked = made_found("linked", [Match(cosine=0.5)] * 3, relevant=[2], links={2: 50})
    forum = Forum(answerable=[[*one, linked] for one in forum.answerable], unanswerable=forum.unanswerable)
    path = tmp_path / "features.json"
    path.write_text(json.dumps({"models": {"": fit_all([forum])}}), encoding="utf-8")
    fit = read_fits(path)[""]
    assert [one.model.order.weights["links_in"] > 0 for one in fit.folds] == [
        at != fold_of("linked") for at in range(FOLDS)
    ]
    assert fit.model.order.weights["links_in"] > 0
    assert fit.for_question("linked").model.order.weights["links_in"] == 0
    assert fit.for_question("never fitted") is fit
    assert "links_in" not in fit.without_links.weights
    assert fit.questions == {f"{kind}-{at}" for kind in ("yes", "no") for at in range(20)} | {"linked"}
