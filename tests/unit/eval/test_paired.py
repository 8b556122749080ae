"""Two rankings of the same questions: what their difference is, and when it is luck."""

from __future__ import annotations

from eval.paired import paired


def test_only_questions_that_both_have_count() -> None:
    assert paired({"a": 1, "b": 3}, {"b": 3, "c": 1})["n"] == 1


def test_a_rank_beyond_the_metrics_depth_counts_nothing() -> None:
    report = paired({"a": 6, "b": 11}, {"a": None, "b": None})
    assert (report["hit@5"]["a"], report["hit@25"]["a"], report["mrr@10"]["a"]) == (0.0, 1.0, round(1 / 12, 4))


def test_the_same_ranking_differs_by_nothing() -> None:
    ranks = {str(at): at % 7 + 1 for at in range(50)}
    report = paired(ranks, dict(ranks))
    assert report["mrr@10"]["difference"] == 0.0
    assert report["mrr@10"]["p"] == 1.0


def test_a_ranking_that_is_better_everywhere_is_not_luck() -> None:
    better = paired({str(at): 1 for at in range(50)}, {str(at): 6 for at in range(50)})
    assert better["hit@5"]["difference_ci"] == [1.0, 1.0]
    assert better["hit@5"]["p"] < 0.001


def test_nothing_in_common_is_said() -> None:
    assert paired({"a": 1}, {"b": 1}) == {"n": 0}
