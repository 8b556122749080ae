"""No question is ranked by a fit that saw it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs the `eval` extra")

from clients.features_reranker import FOLDS, fold_of
from eval.cross_validated import cross_validated
from eval.fit import OF_LINKS
from eval.runner import Found
from forum.types import Match

Made = Callable[..., Found]


def _questions(made: Made, count: int = 30) -> list[Found]:
    """The relevant topic has the highest cosine of five, whatever its place."""
    rng = np.random.default_rng(0)
    done = []
    for at in range(count):
        cosines = rng.random(5).tolist()
        matches = [Match(cosine=one) for one in cosines]
        done.append(made(f"q{at}", matches, relevant=[int(np.argmax(cosines)) + 1]))
    return done


def _relabelled(found: Found, topic: int) -> Found:
    return replace(found, asked=replace(found.asked, relevant_topics=frozenset((topic,))))


def _logits(found: Found) -> dict[int, float | None]:
    return {one.passage.topic_id: one.logit for one in found.reranked}


def test_what_is_known_of_a_question_moves_the_other_folds_and_never_its_own(made_found: Made) -> None:
    found = _questions(made_found)
    before = cross_validated(found)
    for at in range(FOLDS):
        worst = min(found[at].candidates, key=lambda one: one.match.cosine or 0.0).passage.topic_id
        after = cross_validated([*found[:at], _relabelled(found[at], worst), *found[at + 1 :]])
        moved = {
            fold_of(one.asked.id) for one, other in zip(before, after, strict=True) if _logits(one) != _logits(other)
        }
        assert moved == set(range(FOLDS)) - {fold_of(f"q{at}")}


def test_every_question_is_ranked_by_what_the_others_have_in_common(made_found: Made) -> None:
    found = _questions(made_found)
    ranked = cross_validated(found)
    assert [one.asked.id for one in ranked] == [one.asked.id for one in found]
    first = [one.reranked[0].passage.topic_id in one.asked.relevant_topics for one in ranked]
    assert all(first)


def test_what_lies_below_the_depth_keeps_its_place(made_found: Made) -> None:
    for one in cross_validated(_questions(made_found), depth=2):
        topics = [candidate.passage.topic_id for candidate in one.reranked]
        assert sorted(topics[:2]) == [1, 2]
        assert topics[2:] == [3, 4, 5]


def test_a_further_signal_is_a_feature_like_the_others(made_found: Made) -> None:
    """Nothing else tells the candidates apart."""
    found = [made_found(f"q{at}", [Match(cosine=0.5)] * 5, relevant=[at % 5 + 1]) for at in range(30)]
    signal = [{topic * 10: float(topic in one.asked.relevant_topics) for topic in range(1, 6)} for one in found]
    blind = [one.reranked[0].passage.topic_id in one.asked.relevant_topics for one in cross_validated(found)]
    told = [
        one.reranked[0].passage.topic_id in one.asked.relevant_topics for one in cross_validated(found, signal=signal)
    ]
    assert sum(blind) == 6
    assert all(told)


def test_a_feature_that_is_left_out_changes_nothing(made_found: Made) -> None:
    """Links say which topic is right, but are not looked at."""
    found = [
        made_found(f"q{at}", [Match(cosine=0.5)] * 5, relevant=[at % 5 + 1], links={at % 5 + 1: 9}) for at in range(30)
    ]
    assert all(one.reranked[0].passage.topic_id in one.asked.relevant_topics for one in cross_validated(found))
    for one in cross_validated(found, without=OF_LINKS):
        assert [candidate.passage.topic_id for candidate in one.reranked] == [1, 2, 3, 4, 5]
