"""Stage recall: each channel's best topics for the question, fused; the legacy path when vectors cannot be had."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from bot.scope import scope_of
from bot.stages.results import Query, Recalled
from bot.stages.side_by_side import side_by_side
from bot.tools import Tools
from forum.config import Config
from forum.errors import ModelMismatch, RemoteError
from forum.fusion import Fused, best_per_topic, reciprocal_rank_fusion
from forum.legacy import boosted
from forum.ports import Vectors
from forum.types import Candidate, Hit, Match, Passage, Scope

#: Posts asked for per topic wanted: a topic often fills several places of a channel's list.
_POSTS_A_TOPIC = 3


def recall(query: Query, tools: Tools, config: Config) -> Recalled:
    """The fused candidates, best first, each with its ranks, scores, match and signals.

    The title alone and each sub-question have channels of their own. Nothing found: decision `empty` or `nothing`,
    never an error.
    """
    scope = scope_of(query.question, config)
    texts = _texts(query, config)
    pipeline = "posts" if config.flags.posts_pipeline else "legacy"
    channels: tuple[str, ...] = config.recall.channels if pipeline == "posts" else ("keyword", "topics")
    degraded: tuple[str, ...] = ()
    reason = ""
    vectors: tuple[Vectors | None, ...] = (None,) * len(texts)
    hits: dict[str, list[Hit]] = {}
    if any(channel != "keyword" for channel in channels):
        try:
            vectors = tuple(tools.embedder.embed_query(text) for text in texts)
            hits = side_by_side(_calls(channels, texts, vectors, tools, config, scope))
        except (RemoteError, ModelMismatch) as error:
            degraded = ("embedder",) if isinstance(error, RemoteError) else ("vectors",)
            vectors, reason, pipeline = (None,) * len(texts), str(error), "legacy"
    if not hits:
        hits = side_by_side(_calls(("keyword",), texts, vectors, tools, config, scope))
    lists = {name: best_per_topic(found, limit=config.recall.limit) for name, found in hits.items()}
    weights = {name: config.recall.topics_weight for name in lists if name.partition(":")[0] == "topics"}
    fused = reciprocal_rank_fusion(lists, k=config.recall.rrf_k, weights=weights)
    support = Counter(topic for _, topic in {(hit.post_id, hit.topic_id) for found in hits.values() for hit in found})
    candidates = _described(fused, support, texts[0], vectors[0], tools, scope)
    if pipeline == "legacy":
        candidates = boosted(candidates)
    decision = f"{len(candidates)} candidates" if candidates else "nothing" if tools.index.size() else "empty"
    return Recalled(
        decision=decision,
        reason=reason,
        degraded=degraded,
        candidates=tuple(candidates),
        pipeline=pipeline,
        data={
            "pipeline": pipeline,
            "texts": list(texts),
            "channels": {name: [hit.post_id for hit in hits] for name, hits in lists.items()},
            "fused": [[one.passage.post_id, round(one.rrf, 6), dict(one.ranks)] for one in candidates],
        },
    )


def _texts(query: Query, config: Config) -> tuple[str, ...]:
    """The title with the question's first characters; the title alone; each part of the question alone."""
    characters = config.recall.question_characters
    whole = f"{query.title}\n{query.text[:characters]}".strip()
    title = (query.title,) if config.recall.title_alone and query.title not in ("", whole) else ()
    return (whole, *title, *(text[:characters] for text in query.sub_questions))


def _suffixes(texts: Sequence[str]) -> list[str]:
    return ["" if n == 0 else f":{n}" for n in range(len(texts))]


def _calls(
    channels: Sequence[str],
    texts: Sequence[str],
    vectors: Sequence[Vectors | None],
    tools: Tools,
    config: Config,
    scope: Scope,
) -> dict[str, Callable[[], list[Hit]]]:
    """What to ask the index, by the channel's name and the suffix of its text."""
    index, limit = tools.index, config.recall.limit
    calls: dict[str, Callable[[], list[Hit]]] = {}
    for text, vector, suffix in zip(texts, vectors, _suffixes(texts), strict=True):
        if "posts" in channels and vector is not None:
            calls[f"posts{suffix}"] = partial(index.nearest, vector, limit=limit * _POSTS_A_TOPIC, scope=scope)
        if "keyword" in channels:
            calls[f"keyword{suffix}"] = partial(index.keyword, text, limit=limit * _POSTS_A_TOPIC, scope=scope)
        if "topics" in channels and vector is not None:
            calls[f"topics{suffix}"] = partial(index.nearest_topics, vector, limit=limit, scope=scope)
    return calls


def _described(
    fused: Sequence[Fused],
    support: Mapping[int, int],
    text: str,
    vector: Vectors | None,
    tools: Tools,
    scope: Scope,
) -> list[Candidate]:
    """What each post says and how it fits; a post that stopped being public meanwhile is left out."""
    ids = [one.post_id for one in fused]
    if not ids:
        return []
    matching: dict[str, Callable[[], Any]] = {
        "matches": partial(tools.index.matches, ids, text=text, vector=vector, scope=scope),
        "passages": partial(tools.index.passages, ids, scope=scope),
    }
    found = side_by_side(matching)
    passages: dict[int, Passage] = found["passages"]
    matches: dict[int, Match] = found["matches"]
    return [
        Candidate(
            passage=passages[one.post_id],
            ranks=_by_channel(one.ranks),
            scores=one.scores,
            rrf=one.score,
            match=matches.get(one.post_id, Match()),
            support=support[one.topic_id],
        )
        for one in fused
        if one.post_id in passages
    ]


def _by_channel(ranks: Mapping[str, int]) -> dict[str, int]:
    """The best rank by channel, whichever of the question's parts it was for."""
    best: dict[str, int] = {}
    for name, rank in ranks.items():
        channel = name.partition(":")[0]
        best[channel] = min(best.get(channel, rank), rank)
    return best
