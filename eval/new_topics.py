"""How often a link to an older topic would be right, against how often the bot would speak, by threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.new_topics import close_enough
from eval.fit_of import fit_of
from eval.runner import Found, Runner
from eval.unseen import how
from forum.config import Config
from forum.features import logits
from forum.types import Candidate, Question


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranked:
    """One opened topic with its candidates, scored by what has not seen it."""

    found: Found
    candidates: tuple[Candidate, ...]


def ranked(runner: Runner, found: Sequence[Found]) -> tuple[list[Ranked], str]:
    """Each question's candidates with logits, best first, by a fit that did not see the question."""
    fit = fit_of(runner)
    if fit is None:
        return [Ranked(found=one, candidates=one.reranked) for one in found], "the reranker as configured"
    out = []
    for one in found:
        scores = logits(one.candidates, fit.for_question(one.asked.id).model)
        scored = [replace(each, logit=score) for each, score in zip(one.candidates, scores, strict=True)]
        out.append(Ranked(found=one, candidates=tuple(sorted(scored, key=lambda each: -(each.logit or 0.0)))))
    return out, how(found, fit)


def precision_and_coverage(asked: Sequence[Ranked], config: Config, threshold: float) -> dict[str, Any]:
    """`coverage`: the share of topics that get a reply. `precision`: of those, the share with a right link among
    the shown; `links_right`: the share of all shown links that are right. A link is right when a person gave it."""
    section = config.new_topics.model_copy(update={"threshold": threshold})
    at = config.model_copy(update={"new_topics": section})
    replies = right = shown = links_right = 0
    for one in asked:
        question = Question(text="", topic_id=one.found.asked.topic_id or None)
        topics = [each.passage.topic_id for each in close_enough(one.candidates, question, at)]
        hits = [topic for topic in topics if topic in one.found.asked.relevant_topics]
        replies += bool(topics)
        right += bool(hits)
        shown += len(topics)
        links_right += len(hits)
    return {
        "threshold": round(threshold, 2),
        "coverage": round(replies / max(len(asked), 1), 4),
        "precision": round(right / replies, 4) if replies else None,
        "links_right": round(links_right / shown, 4) if shown else None,
        "replies": replies,
    }


def smallest_threshold(rows: Sequence[dict[str, Any]], precision: float, *, least: int = 20) -> float | None:
    """The lowest threshold from which on every row reaches `precision` (rows with under `least` replies aside)."""
    found: float | None = None
    for row in sorted(rows, key=lambda row: -row["threshold"]):
        if row["replies"] < least:
            continue
        if row["precision"] < precision:
            break
        found = row["threshold"]
    return found
