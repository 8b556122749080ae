"""Stage rerank: the candidates in the order of the reranker's logits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.stages.results import Query, Recalled, Reranked
from bot.tools import Tools
from forum.config import Config
from forum.errors import RemoteError
from forum.text import excerpt
from forum.types import Candidate
from forum.window import best_window


def rerank(query: Query, recalled: Recalled, tools: Tools, config: Config) -> Reranked:
    """The best candidates with their logit; RRF order when the reranker is off or down."""
    pool = recalled.candidates[: config.reranker.scored]
    if not config.flags.rerank or not pool:
        return Reranked(decision="off" if pool else recalled.decision, candidates=pool)
    if config.reranker.reads:
        pool = excerpted(query, pool, config)
    try:
        ranked, model = _ranked(query, pool, tools), tools.reranker.model_id
    except RemoteError as error:
        return Reranked(decision="RRF order", reason=f"reranker: {error}", degraded=("reranker",), candidates=pool)
    return Reranked(
        decision=f"ranked by {model}",
        candidates=ranked,
        model_id=model,
        data={"logits": [[one.passage.post_id, round(one.logit or 0.0, 4)] for one in ranked]},
    )


def weighed_anew(
    query: Query, candidates: tuple[Candidate, ...], tools: Tools, config: Config
) -> tuple[Candidate, ...]:
    """What is left when others are out: `features` compares what was found together; a cross-encoder's logits stand."""
    if config.reranker.reads or not candidates or candidates[0].logit is None:
        return candidates
    return _ranked(query, candidates, tools)


def _ranked(query: Query, candidates: tuple[Candidate, ...], tools: Tools) -> tuple[Candidate, ...]:
    logits = tools.reranker.score(query.full, candidates)
    scored = [replace(one, logit=logit) for one, logit in zip(candidates, logits, strict=True)]
    return tuple(sorted(scored, key=lambda one: (-(one.logit or 0.0), -one.rrf, one.passage.post_id)))


def excerpted(query: Query, candidates: Sequence[Candidate], config: Config) -> tuple[Candidate, ...]:
    """The same, with their excerpt where they have none yet."""
    return tuple(one if one.excerpt else replace(one, excerpt=_excerpt(query, one, config)) for one in candidates)


def _excerpt(query: Query, candidate: Candidate, config: Config) -> str:
    limit = config.evidence.excerpt_characters
    if config.reranker.excerpt == "relevant":
        return best_window(candidate.passage.text, query.full, limit)
    return excerpt(candidate.passage.text, limit)
