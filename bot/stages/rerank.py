"""Stage rerank: the candidates in the order of the reranker's logits."""

from __future__ import annotations

from dataclasses import replace

from bot.stages.results import Query, Recalled, Reranked
from bot.tools import Tools
from forum.config import Config
from forum.errors import RemoteError
from forum.text import excerpt
from forum.types import Candidate
from forum.window import best_window


def rerank(query: Query, recalled: Recalled, tools: Tools, config: Config) -> Reranked:
    """The best candidates with excerpt and logit; RRF order when the reranker is off or down."""
    pool = tuple(
        replace(one, excerpt=_excerpt(query, one, config)) for one in recalled.candidates[: config.reranker.scored]
    )
    if not config.flags.rerank or not pool:
        return Reranked(decision="off" if pool else recalled.decision, candidates=pool)
    try:
        logits = tools.reranker.score(query.full, pool)
        model = tools.reranker.model_id
    except RemoteError as error:
        return Reranked(decision="RRF order", reason=f"reranker: {error}", degraded=("reranker",), candidates=pool)
    scored = [replace(one, logit=logit) for one, logit in zip(pool, logits, strict=True)]
    ranked = tuple(sorted(scored, key=lambda one: (-(one.logit or 0.0), -one.rrf, one.passage.post_id)))
    return Reranked(
        decision=f"ranked by {model}",
        candidates=ranked,
        model_id=model,
        data={"logits": [[one.passage.post_id, round(one.logit or 0.0, 4)] for one in ranked]},
    )


def _excerpt(query: Query, candidate: Candidate, config: Config) -> str:
    limit = config.evidence.excerpt_characters
    if config.reranker.excerpt == "relevant":
        return best_window(candidate.passage.text, query.full, limit)
    return excerpt(candidate.passage.text, limit)
