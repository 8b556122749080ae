"""Stage aggregate: the best post of each topic becomes a source."""

from __future__ import annotations

from bot.stages.results import Evidence, Reranked
from forum.config import Config
from forum.types import Candidate


def aggregate(reranked: Reranked, config: Config) -> Evidence:
    """At most `evidence.sources` sources, one a topic, in the order given."""
    sources = best_by_topic(reranked.candidates)[: config.evidence.sources]
    return Evidence(
        decision=f"{len(sources)} sources" if sources else reranked.decision,
        sources=sources,
        model_id=reranked.model_id,
        data={"sources": [one.passage.content_id for one in sources]},
    )


def best_by_topic(candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """The first candidate of each topic, order kept; passages without a topic each stand for themselves."""
    first: dict[str, Candidate] = {}
    for one in candidates:
        key = f"topic:{one.passage.topic_id}" if one.passage.topic_id else one.passage.content_id
        first.setdefault(key, one)
    return tuple(first.values())
