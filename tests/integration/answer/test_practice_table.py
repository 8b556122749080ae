"""The practice forum's table: what is found of our own questions, and where the bot keeps silent.

A bound lies below the figure measured by about as much as chance moves it (one binomial standard deviation), unless
it is a promise; raise it when the figure rises.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clients.composition import build_embedder
from clients.features_reranker import COEFFICIENTS, read_fits
from clients.postgres.pool import Database
from eval.metrics import of_ranking
from eval.question_set import Asked, read_questions
from eval.runner import Found, Runner
from eval.unseen import by_order
from forum.config import Config
from forum.types import Zone
from forum.zones import BUILT_IN, thresholds_for, zone_of

_QUESTIONS = Path(__file__).parents[3] / "eval" / "questions"
Table = dict[str, list[Found]]


@pytest.fixture(scope="module")
def table(practice: Database) -> Table:
    runner = Runner.build(Config(), practice)
    return {name: runner.run(_read(name), name) for name in ("practice", "practice-unanswerable")}


def _read(name: str) -> tuple[Asked, ...]:
    return read_questions(_QUESTIONS / f"{name}.jsonl").questions


def _share(found: list[Found], zone: Zone) -> float:
    limits = thresholds_for("features", BUILT_IN)
    zones = [zone_of(-50.0 if (top := one.top()) is None else top, limits) for one in found]
    return zones.count(zone) / len(zones)


def _hit(depth: int, found: list[Found]) -> float:
    rows = [of_ranking([one.passage.topic_id for one in each.reranked], each.asked.grades) for each in found]
    return sum(row[f"hit@{depth}"] for row in rows) / len(rows)


def test_a_good_topic_is_among_the_first_five(table: Table) -> None:
    assert _hit(5, table["practice"]) >= 0.89


def test_the_reranker_puts_a_good_topic_first_at_least_as_often_as_the_fusion(table: Table) -> None:
    """By fits that did not see the question; the committed one has seen these."""
    unseen = by_order(table["practice"], read_fits(COEFFICIENTS)[build_embedder(Config().embedder).model.name])
    fused = [replace(one, reranked=one.candidates) for one in table["practice"]]
    assert _hit(1, unseen) >= max(_hit(1, fused), 0.71)


def test_few_answerable_questions_meet_silence(table: Table) -> None:
    assert _share(table["practice"], Zone.ABSTAIN) <= 0.10


def test_what_the_forum_does_not_answer_is_refused_or_called_weak(table: Table) -> None:
    assert _share(table["practice-unanswerable"], Zone.OK) <= 0.10


def test_much_of_the_answerable_is_answered_without_a_warning(table: Table) -> None:
    assert _share(table["practice"], Zone.OK) >= 0.43


def test_most_misspelled_questions_are_answered(table: Table) -> None:
    misspelled = [one for one in table["practice"] if one.asked.kind == "misspelled"]
    assert _share(misspelled, Zone.ABSTAIN) <= 0.47
