"""The features reranker's core: the best candidate carries the level, the others fall below it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forum.features import Logistic, Model, level_features, logits, order_features
from forum.types import Candidate, Match, Passage, Signals

_MODEL = Model(
    order=Logistic(intercept=0.5, weights={"cosine": 3.0, "links_in": 1.0}),
    level=Logistic(intercept=-2.0, weights={"top_cosine": 4.0, "unknown": -5.0}),
)


def _candidate(post: int, *, cosine: float, links: int = 0, unknown: float = 0.0) -> Candidate:
    passage = Passage(
        content_id=f"post:{post}:1", post_id=post, topic_id=post, title="t", text="x", signals=Signals(links_in=links)
    )
    match = Match(embedder="e", cosine=cosine, bm25=3.0, idf_sum=5.0, unknown=unknown, question_terms=4)
    return Candidate(passage=passage, ranks={"posts": post}, match=match)


def test_the_top_logit_is_the_level() -> None:
    assert max(logits([_candidate(1, cosine=0.5), _candidate(2, cosine=0.2)], _MODEL)) == pytest.approx(-2 + 4 * 0.5)


def test_differences_are_the_orders() -> None:
    first, second = logits([_candidate(1, cosine=0.5), _candidate(2, cosine=0.2)], _MODEL)
    assert first - second == pytest.approx(3.0 * 0.3)


def test_a_topic_that_others_link_to_rises() -> None:
    plain, linked = logits([_candidate(1, cosine=0.5), _candidate(2, cosine=0.5, links=9)], _MODEL)
    assert linked > plain


def test_words_that_the_forum_never_wrote_lower_every_candidate() -> None:
    known = logits([_candidate(1, cosine=0.5)], _MODEL)
    unknown = logits([_candidate(1, cosine=0.5, unknown=0.8)], _MODEL)
    assert unknown[0] < known[0] - 3


def test_no_candidates_no_logits() -> None:
    assert logits([], _MODEL) == []


def test_the_forums_size_changes_no_feature() -> None:
    """Twice the idf of every word (a larger forum) is the same share of the whole."""
    one = _candidate(1, cosine=0.5)
    larger = replace(one, match=replace(one.match, bm25=6.0, idf_sum=10.0))
    assert order_features([one]) == order_features([larger])
    assert level_features([one], [0.0]) == level_features([larger], [0.0])


def test_a_weight_without_its_feature_is_an_error() -> None:
    with pytest.raises(KeyError):
        Logistic(intercept=0.0, weights={"no such feature": 1.0}).logit({"cosine": 1.0})
