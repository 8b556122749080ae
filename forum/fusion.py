"""Fuses the channels' lists: reciprocal rank fusion, and the convex combination printed beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from forum.types import Hit


@dataclass(frozen=True, kw_only=True, slots=True)
class Fused:
    """A topic with the post that stands for it, its rank and score by channel, and its fused score."""

    post_id: int
    topic_id: int
    score: float
    ranks: Mapping[str, int]
    scores: Mapping[str, float]


def best_per_topic(hits: Sequence[Hit], *, limit: int | None = None) -> list[Hit]:
    """The first hit of each topic, order kept, at most `limit`."""
    first: dict[int, Hit] = {}
    for hit in hits:
        first.setdefault(hit.topic_id, hit)
    return list(first.values())[:limit]


def reciprocal_rank_fusion(
    channels: Mapping[str, Sequence[Hit]], *, k: int = 60, weights: Mapping[str, float] | None = None
) -> list[Fused]:
    """Topics by the sum over the channels of weight / (k + rank), rank from 1 among the channel's topics.

    Cormack, Clarke, Buettcher 2009, with their k. Channels that agree on a topic through different posts count
    as agreeing; the post with the best rank stands for the topic. Ties fall to the best single rank, then to the
    older post, so that the order never depends on the order of the channels.
    """
    return _fused(
        channels,
        lambda name, hits: [(weights or {}).get(name, 1.0) / (k + rank) for rank in range(1, len(hits) + 1)],
    )


def convex_combination(
    channels: Mapping[str, Sequence[Hit]], *, weights: Mapping[str, float] | None = None
) -> list[Fused]:
    """Topics by the weighted mean of the channels' scores, each scaled to 0..1 by its own best and worst.

    A topic that a channel did not return gets 0 from it (Bruch, Gai, Ingber 2023, TM2C2 with the list's minimum).
    """

    def scaled(name: str, hits: Sequence[Hit]) -> list[float]:
        share = (weights or {}).get(name, 1.0 / max(len(channels), 1))
        low = min(hit.score for hit in hits)
        span = max(hit.score for hit in hits) - low
        return [share * ((hit.score - low) / span if span else 1.0) for hit in hits]

    return _fused(channels, scaled)


def _fused(channels: Mapping[str, Sequence[Hit]], points: Callable[[str, Sequence[Hit]], list[float]]) -> list[Fused]:
    scores: dict[int, dict[str, float]] = {}
    ranks: dict[int, dict[str, int]] = {}
    total: dict[int, list[float]] = {}
    posts: dict[int, tuple[int, int]] = {}
    for name in sorted(channels):
        hits = best_per_topic(channels[name])
        if not hits:
            continue
        for rank, (hit, point) in enumerate(zip(hits, points(name, hits), strict=True), start=1):
            ranks.setdefault(hit.topic_id, {})[name] = rank
            scores.setdefault(hit.topic_id, {})[name] = hit.score
            total.setdefault(hit.topic_id, []).append(point)
            posts[hit.topic_id] = min(posts.get(hit.topic_id, (rank, hit.post_id)), (rank, hit.post_id))
    fused = [
        Fused(
            post_id=posts[topic][1],
            topic_id=topic,
            score=sum(sorted(total[topic])),
            ranks=ranks[topic],
            scores=scores[topic],
        )
        for topic in total
    ]
    return sorted(fused, key=lambda one: (-one.score, min(one.ranks.values()), one.post_id))
