"""Our metrics against ir-measures, and the statistics on cases whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.metrics import interval, of_ranking, paired_p, summary

ir_measures = pytest.importorskip("ir_measures", reason="needs the `eval` extra")

_ORACLE = {
    "hit@1": "Success@1",
    "hit@5": "Success@5",
    "hit@25": "Success@25",
    "mrr@10": "RR@10",
    "ndcg@10": "nDCG@10",
}
_topics = st.lists(st.integers(1, 60), max_size=40, unique=True)
_grades = st.dictionaries(st.integers(1, 60), st.integers(1, 3), min_size=1, max_size=6)


@given(_topics, _grades)
def test_metrics_are_those_of_ir_measures(topics: list[int], grades: dict[int, int]) -> None:
    measures = {ir_measures.parse_measure(name): ours for ours, name in _ORACLE.items()}
    run = {"q": {str(topic): float(-rank) for rank, topic in enumerate(topics)} or {"none": 0.0}}
    qrels = {"q": {str(topic): grade for topic, grade in grades.items()}}
    expected = {measures[one.measure]: one.value for one in ir_measures.iter_calc(list(measures), qrels, run)}
    assert of_ranking(topics, grades) == pytest.approx(expected, abs=1e-6)


def test_the_interval_holds_the_mean() -> None:
    values = np.array([0.0] * 60 + [1.0] * 40)
    low, high = interval(values)
    assert low < 0.4 < high
    assert high - low == pytest.approx(2 * 1.96 * (0.24 / 100) ** 0.5, rel=0.15)


def test_a_difference_on_every_question_is_significant() -> None:
    assert paired_p(np.ones(40), np.zeros(40)) < 0.001


def test_no_difference_is_not() -> None:
    values = np.array([0.0, 1.0] * 20)
    assert paired_p(values, values) == 1.0


def test_a_summary_has_an_interval_beside_every_number() -> None:
    rows = [of_ranking([3, 1], {1: 1}), of_ranking([1], {1: 1})]
    numbers = summary(rows)
    assert numbers["hit@1"] == 0.5
    assert set(numbers) == {name for key in _ORACLE for name in (key, f"{key}_ci")}
