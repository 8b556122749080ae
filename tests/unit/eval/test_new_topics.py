"""Precision against coverage of pointing new topics to older ones, on numbers that can be checked by hand."""

from __future__ import annotations

from eval.new_topics import Ranked, precision_and_coverage, smallest_threshold
from eval.question_set import Asked
from eval.runner import Found
from forum.config import Config
from forum.types import Candidate, Passage


def opened(relevant: int, *candidates: tuple[int, float]) -> Ranked:
    """A topic to which somebody linked `relevant`; candidates as (topic, logit), best first."""
    made = tuple(
        Candidate(passage=Passage(content_id=f"post:{t}:1", topic_id=t, post_id=t, title="", text="x"), logit=logit)
        for t, logit in candidates
    )
    asked = Asked(id=str(relevant), title="", body="", relevant_topics=frozenset((relevant,)))
    found = Found(asked=asked, candidates=made, reranked=made, recall_ms=0, rerank_ms=0)
    return Ranked(found=found, candidates=made)


ASKED = [opened(1, (1, 3.0), (2, 1.0)), opened(5, (4, 2.5), (5, 2.0)), opened(9, (8, 2.2)), opened(7, (6, -1.0))]


def test_coverage_counts_replies_and_precision_the_right_ones() -> None:
    row = precision_and_coverage(ASKED, Config(), 2.0)
    assert (row["replies"], row["coverage"]) == (3, 0.75)
    assert row["precision"] == 0.6667
    assert row["links_right"] == 0.5


def test_over_every_logit_the_bot_keeps_silent() -> None:
    row = precision_and_coverage(ASKED, Config(), 9.0)
    assert (row["replies"], row["coverage"], row["precision"]) == (0, 0.0, None)


def test_the_threshold_is_the_lowest_from_which_on_all_are_precise_enough() -> None:
    rows = [
        {"threshold": float(at), "precision": precision, "replies": 50}
        for at, precision in ((1, 0.9), (2, 0.4), (3, 0.6), (4, 0.7))
    ]
    assert smallest_threshold(rows, 0.6) == 3.0
    assert smallest_threshold(rows, 0.95) is None


def test_a_handful_of_replies_settles_nothing() -> None:
    assert smallest_threshold([{"threshold": 5.0, "precision": 1.0, "replies": 3}], 0.6) is None
