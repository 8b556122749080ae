"""Stage recall: each channel's best topics for the question, fused; the legacy path when vectors cannot be had."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
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
#: The suffixes of the lists for the whole question and for its title alone; and what a rank of the latter counts. What
#: the title finds the whole mostly finds too: at 1, two lists of four say the same (measured: up, within the noise).
_WHOLE, _TITLE = "", ":title"
_TITLE_WEIGHT = 0.7


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
    vectors: Mapping[str, Vectors | None] = dict.fromkeys(texts)
    hits: dict[str, list[Hit]] = {}
    if any(channel != "keyword" for channel in channels):
        try:
            vectors = {part: tools.embedder.embed_query(text) for part, text in texts.items()}
            hits = side_by_side(_calls(channels, texts, vectors, tools, config, scope))
        except (RemoteError, ModelMismatch) as error:
            degraded = ("embedder",) if isinstance(error, RemoteError) else ("vectors",)
            vectors, reason, pipeline = dict.fromkeys(texts), str(error), "legacy"
    if not hits:
        hits = side_by_side(_calls(("keyword",), texts, vectors, tools, config, scope))
    lists = {name: best_per_topic(found, limit=config.recall.limit) for name, found in hits.items()}
    fused = reciprocal_rank_fusion(lists, k=config.recall.rrf_k, weights=_weights(lists, config))
    support = Counter(topic for _, topic in {(hit.post_id, hit.topic_id) for found in hits.values() for hit in found})
    candidates = _described(fused, support, texts[_WHOLE], vectors[_WHOLE], tools, scope)
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
            "texts": list(texts.values()),
            "channels": {name: [hit.post_id for hit in hits] for name, hits in lists.items()},
            "fused": [[one.passage.post_id, round(one.rrf, 6), dict(one.ranks)] for one in candidates],
        },
    )


def _texts(query: Query, config: Config) -> dict[str, str]:
    """The title with the question's first characters; the title alone; each part of the question alone.

    Each by the suffix that it gives the names of its channels' lists.
    """
    characters = config.recall.question_characters
    whole = f"{query.title}\n{query.text[:characters]}".strip()
    title = {_TITLE: query.title} if config.recall.title_alone and query.title not in ("", whole) else {}
    parts = {f":{n}": text[:characters] for n, text in enumerate(query.sub_questions, start=1)}
    return {_WHOLE: whole, **title, **parts}


def _weights(lists: Iterable[str], config: Config) -> dict[str, float]:
    """What a rank in each list counts in the fusion; 1 where nothing is said."""
    topics = {name: config.recall.topics_weight for name in lists if name.startswith("topics")}
    return topics | {name: topics.get(name, 1.0) * _TITLE_WEIGHT for name in lists if name.endswith(_TITLE)}


def _calls(
    channels: Sequence[str],
    texts: Mapping[str, str],
    vectors: Mapping[str, Vectors | None],
    tools: Tools,
    config: Config,
    scope: Scope,
) -> dict[str, Callable[[], list[Hit]]]:
    """What to ask the index, by the channel's name and the suffix of its text."""
    index, limit = tools.index, config.recall.limit
    calls: dict[str, Callable[[], list[Hit]]] = {}
    for suffix, text in texts.items():
        vector = vectors[suffix]
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
