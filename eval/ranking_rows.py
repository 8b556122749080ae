"""The rows of the retrieval table: from what was found to each row's rankings and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval.fit import FOLDS, out_of_fold
from eval.metrics import of_ranking, summary
from eval.runner import Found
from forum.fusion import convex_combination
from forum.types import Hit

WITHOUT_LINKS = frozenset(("links_in",))

Rankings = list[list[int]]


def rankings(found: Sequence[Found], *, trained_on: frozenset[str] | None) -> tuple[dict[str, Rankings], str]:
    """Topics by row and question, best first, and how `reranked` came about.

    `trained_on` names the questions that the committed coefficients were fitted on; None: another reranker ran, or
    no coefficients fit this embedder. Questions that were trained on are ranked by fits that never saw them.
    """
    channels = sorted({name for one in found for candidate in one.candidates for name in candidate.ranks})
    rows: dict[str, Rankings] = {name: [one.channel(name) for one in found] for name in channels}
    rows["rrf"] = [one.fused() for one in found]
    rows["convex"] = [_convex(one, channels) for one in found]
    seen = trained_on is not None and any(one.asked.id in trained_on for one in found)
    if seen:
        how = f"out of fold: these questions trained the coefficients, so {FOLDS} fits by question"
        rows["reranked"] = _topics(out_of_fold(found))
        rows["reranked_without_links"] = _topics(out_of_fold(found, without=WITHOUT_LINKS))
    else:
        how = "the reranker as configured: it was not fitted on these questions"
        rows["reranked"] = _topics(found)
    return rows, how


def table(found: Sequence[Found], rows: Mapping[str, Rankings]) -> dict[str, dict[str, object]]:
    """The metrics of each row, with their intervals."""
    return {
        name: summary([of_ranking(topics, one.asked.grades) for one, topics in zip(found, ranked, strict=True)])
        for name, ranked in rows.items()
    }


def first_ranks(found: Sequence[Found], rows: Mapping[str, Rankings]) -> dict[str, dict[str, Any]]:
    """By row and question: the rank of the first relevant topic, or null. What `compare` reads."""
    return {
        name: {
            one.asked.id: next(
                (rank for rank, topic in enumerate(topics, 1) if topic in one.asked.relevant_topics), None
            )
            for one, topics in zip(found, ranked, strict=True)
        }
        for name, ranked in rows.items()
    }


def _topics(found: Sequence[Found]) -> Rankings:
    return [[candidate.passage.topic_id for candidate in one.reranked] for one in found]


def _convex(found: Found, channels: Sequence[str]) -> list[int]:
    hits = {
        name: [
            Hit(
                post_id=one.passage.post_id,
                topic_id=one.passage.topic_id,
                score=one.scores[name],
            )
            for one in sorted(found.candidates, key=lambda one: one.ranks.get(name, 0))
            if name in one.ranks and name in one.scores
        ]
        for name in channels
    }
    return [one.topic_id for one in convex_combination(hits)]
