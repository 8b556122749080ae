"""The rows of the retrieval table: from what was found to each row's rankings and numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clients.features_reranker import Fit
from eval.metrics import of_ranking, summary
from eval.question_set import Asked
from eval.runner import Found
from eval.unseen import by_order, how
from forum.fusion import convex_combination
from forum.types import Candidate, Hit

Rankings = list[list[int]]


def rankings(found: Sequence[Found], fit: Fit | None) -> tuple[dict[str, Rankings], str]:
    """Topics by row and question, best first, and how `reranked` came about.

    `fit` None: another reranker than ours ran, and its order stands.
    """
    channels = sorted({name for one in found for candidate in one.candidates for name in candidate.ranks})
    rows: dict[str, Rankings] = {name: [one.channel(name) for one in found] for name in channels}
    rows["rrf"] = [one.fused() for one in found]
    rows["convex"] = [convex(one) for one in found]
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


def first_ranks(questions: Sequence[Asked], rows: Mapping[str, Rankings]) -> dict[str, dict[str, Any]]:
    """By row and question: the rank of the first relevant topic, or null. What `compare` reads."""
    return {
        name: {
            one.id: next((rank for rank, topic in enumerate(topics, 1) if topic in one.relevant_topics), None)
            for one, topics in zip(questions, ranked, strict=True)
        }
        for name, ranked in rows.items()
    }


def scores_by_relevance(ranked: Sequence[Found]) -> dict[str, dict[str, list[float]]]:
    """By score, of each question that found both: its best relevant candidate's value and its best other one's."""
    kinds: dict[str, Callable[[Candidate], float | None]] = {
        "cosine": lambda one: one.match.cosine,
        "BM25": lambda one: one.match.bm25,
        "logit": lambda one: one.logit,
    }
    out: dict[str, dict[str, list[float]]] = {}
    for name, value_of in kinds.items():
        for one in ranked:
            best: dict[bool, float] = {}
            for candidate in one.reranked:
                relevant = candidate.passage.topic_id in one.asked.relevant_topics
                if (value := value_of(candidate)) is not None:
                    best[relevant] = max(value, best.get(relevant, value))
            if len(best) == 2:
                sides = out.setdefault(name, {"relevant": [], "other": []})
                sides["relevant"].append(round(best[True], 4))
                sides["other"].append(round(best[False], 4))
    return out


def convex(found: Found) -> list[int]:
    """The topics by the convex combination of the channels' scores."""
    channels = sorted({name for one in found.candidates for name in one.scores})
    hits = {
        name: [
            Hit(post_id=one.passage.post_id, topic_id=one.passage.topic_id, score=one.scores[name])
            for one in sorted(
                (one for one in found.candidates if name in one.scores), key=lambda one: -one.scores[name]
            )
        ]
        for name in channels
    }
    return [one.topic_id for one in convex_combination(hits)]


def _topics(found: Sequence[Found]) -> Rankings:
    return [[candidate.passage.topic_id for candidate in one.reranked] for one in found]
