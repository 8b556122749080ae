"""The rows of the retrieval table: from what was found to each row's rankings and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clients.features_reranker import Fit
from eval.metrics import of_ranking, summary
from eval.runner import Found
from eval.unseen import by_order, how
from forum.fusion import convex_combination
from forum.types import Hit

Rankings = list[list[int]]


def rankings(found: Sequence[Found], fit: Fit | None) -> tuple[dict[str, Rankings], str]:
    """Topics by row and question, best first, and how `reranked` came about.

    `fit` None: another reranker than ours ran, and its order stands.
    """
    channels = sorted({name for one in found for candidate in one.candidates for name in candidate.ranks})
    rows: dict[str, Rankings] = {name: [one.channel(name) for one in found] for name in channels}
    rows["rrf"] = [one.fused() for one in found]
    rows["convex"] = [_convex(one, channels) for one in found]
    if fit is None:
        return {**rows, "reranked": _topics(found)}, "the reranker as configured"
    rows["reranked"] = _topics(by_order(found, fit))
    rows["reranked_without_links"] = _topics(by_order(found, fit, links=False))
    return rows, how(found, fit)


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
