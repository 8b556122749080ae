"""From what was found to the rows of the retrieval table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from eval.ranking_rows import first_ranks, rankings, scores_by_relevance, table
from eval.runner import Found, with_order
from forum.types import Match

Made = Callable[..., Found]


@pytest.fixture
def found(made_found: Made) -> Found:
    """Fused 1, 2, 3; the posts' channel has 3 before 1, the keyword channel 2 alone; topic 2 is right."""
    made = made_found("q", [Match(cosine=0.25, bm25=1.0), Match(cosine=0.5), Match(cosine=0.75)], relevant=[2])
    ranks = ({"posts": 2}, {"keyword": 1}, {"posts": 1})
    scores = ({"posts": 0.25}, {"keyword": 4.0}, {"posts": 0.75})
    candidates = tuple(
        replace(one, ranks=rank, scores=score) for one, rank, score in zip(made.candidates, ranks, scores, strict=True)
    )
    return with_order(replace(made, candidates=candidates), [0.0, 2.0, 1.0])


def test_each_channel_has_its_own_list_beside_the_fused_and_the_reranked(found: Found) -> None:
    rows, how = rankings([found], None)
    convex = rows.pop("convex")
    assert rows == {"keyword": [[2]], "posts": [[3, 1]], "rrf": [[1, 2, 3]], "reranked": [[2, 3, 1]]}
    assert sorted(convex[0]) == [1, 2, 3]
    assert how == "the reranker as configured"


def test_a_row_that_misses_the_relevant_topic_has_no_rank(found: Found) -> None:
    rows, _ = rankings([found], None)
    ranks = {name: row["q"] for name, row in first_ranks([found.asked], rows).items()}
    assert ranks | {"convex": None} == {"keyword": 1, "posts": None, "rrf": 2, "reranked": 1, "convex": None}
    numbers = table([found], rows)
    assert (numbers["posts"]["hit@25"], numbers["rrf"]["mrr@10"], numbers["reranked"]["hit@1"]) == (0.0, 0.5, 1.0)


def test_the_best_relevant_score_stands_against_the_best_other_one(found: Found) -> None:
    scores = scores_by_relevance([found])
    assert scores["cosine"] == {"relevant": [0.5], "other": [0.75]}
    assert scores["logit"] == {"relevant": [2.0], "other": [1.0]}
    assert scores["BM25"] == {"relevant": [0.0], "other": [1.0]}


def test_a_question_whose_candidates_are_all_wrong_is_no_comparison(made_found: Made) -> None:
    assert scores_by_relevance([made_found("q", [Match(cosine=0.5)], relevant=[9])]) == {}


def test_candidates_of_the_same_order_keep_their_places(made_found: Made) -> None:
    ranked = with_order(made_found("q", [Match()] * 4), [1.0, 2.0, 1.0, 2.0])
    assert [one.passage.topic_id for one in ranked.reranked] == [2, 4, 1, 3]
