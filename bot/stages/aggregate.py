"""Stage aggregate: the best post of each topic becomes a source; what only asks is not the first."""

from __future__ import annotations

from bot.stages.rerank import excerpted, weighed_anew
from bot.stages.results import Evidence, Query, Reranked
from bot.tools import Tools
from bot.unanswered import unanswered
from forum.config import Config
from forum.types import Candidate


def aggregate(query: Query, reranked: Reranked, tools: Tools, config: Config) -> Evidence:
    """At most `evidence.sources` sources with their excerpt, one a topic, in the order given.

    Questions that nobody answered do not come first: the first source settles the zone for all of them, so what is left
    is weighed without them. In the trace they are `unanswered`.
    """
    candidates, bare = reranked.candidates, list[str]()
    while candidates and unanswered(query, candidates[0].passage, tools, config):
        bare.append(candidates[0].passage.content_id)
        candidates = weighed_anew(query, candidates[1:], tools, config)
    sources = excerpted(query, best_by_topic(candidates)[: config.evidence.sources], config)
    nothing = "only questions that nobody answered" if bare else reranked.decision
    return Evidence(
        decision=f"{len(sources)} sources" if sources else nothing,
        reason=f"{len(bare)} that only ask are left out" if bare else "",
        sources=sources,
        model_id=reranked.model_id,
        data={"sources": [one.passage.content_id for one in sources], "unanswered": bare},
    )


def best_by_topic(candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """The first candidate of each topic, order kept; passages without a topic each stand for themselves."""
    first: dict[str, Candidate] = {}
    for one in candidates:
        first.setdefault(_topic(one), one)
    return tuple(first.values())


def _topic(one: Candidate) -> str:
    return f"topic:{one.passage.topic_id}" if one.passage.topic_id else one.passage.content_id
