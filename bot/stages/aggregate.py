"""Stage aggregate: the best post of each topic becomes a source, with the posts around it for context."""

from __future__ import annotations

from bot.stages.results import Evidence, Query, Reranked
from bot.tools import Tools
from forum.config import Config
from forum.types import Candidate, Passage, Scope


def aggregate(query: Query, reranked: Reranked, tools: Tools, config: Config) -> Evidence:
    """At most `evidence.sources` sources, one a topic, in the order given."""
    sources = best_by_topic(reranked.candidates)[: config.evidence.sources]
    context: dict[str, tuple[Passage, ...]] = {}
    if config.flags.neighbours:
        asking = query.question.post_id
        scope = Scope(exclude_post_ids=frozenset() if asking is None else frozenset((asking,)))
        for source in sources:
            around = tools.index.neighbours(source.passage.post_id, radius=config.recall.neighbour_radius, scope=scope)
            if around:
                context[source.passage.content_id] = tuple(around)
    return Evidence(
        decision=f"{len(sources)} sources" if sources else reranked.decision,
        sources=sources,
        context=context,
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
