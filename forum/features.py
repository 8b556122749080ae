"""The reranker that needs no download: two logistic models over what is known of a question's candidates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forum.bm25 import K1
from forum.types import Candidate

#: Reciprocal ranks are scaled so that the first place counts 1.
_K = 60
#: The size that cosines are brought to: about that of the archive that the models were first fitted on.
_POSTS = 100_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Logistic:
    """A linear model in raw feature units: intercept + sum of weight times value, a logit."""

    intercept: float
    weights: Mapping[str, float]

    def logit(self, values: Mapping[str, float]) -> float:
        """The logit of one row; a weight whose feature is missing is a KeyError, never a silent zero."""
        return self.intercept + sum(weight * values[name] for name, weight in self.weights.items())


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """`order` says which candidate answers best, `level` whether the best one answers at all."""

    order: Logistic
    level: Logistic


def logits(candidates: Sequence[Candidate], model: Model) -> list[float]:
    """One logit a candidate: the best has the level's, the others fall below it by as much as they are worse."""
    if not candidates:
        return []
    orders = [model.order.logit(row) for row in order_features(candidates)]
    top = max(orders)
    level = model.level.logit(level_features(candidates, orders))
    return [level + order - top for order in orders]


def order_features(candidates: Sequence[Candidate]) -> list[dict[str, float]]:
    """One row a candidate: how it matches, how it compares with the rest, how the community treats its topic.

    Every value is free of the forum's size: shares, cosines, and distances within the question's own candidates.
    Counts of the community come as logarithms.
    """
    cosines = [one.match.cosine or 0.0 for one in candidates]
    words = [_bm25_share(one) for one in candidates]
    best_cosine, best_words = max(cosines, default=0.0), max(words, default=0.0)
    rows = []
    for one, cosine, share in zip(candidates, cosines, words, strict=True):
        signals = one.passage.signals
        rows.append(
            {
                "cosine": cosine,
                "cosine_gap": best_cosine - cosine,
                "bm25": share,
                "bm25_gap": best_words - share,
                "coverage": one.match.coverage,
                "rare_coverage": one.match.rare_coverage,
                "title_overlap": one.match.title_overlap,
                "rrf": (_K + 1) * one.rrf,
                "rank_posts": _reciprocal(one, "posts"),
                "rank_keyword": _reciprocal(one, "keyword"),
                "agreement": float("posts" in one.ranks and "keyword" in one.ranks),
                "support": math.log1p(one.support),
                "links_in": math.log1p(signals.links_in),
                "topic_posts": math.log1p(signals.topic_posts),
                "age": math.log1p(signals.topic_age_days),
                "first_post": float(one.passage.post_number == 1),
                "topic_likes": math.log1p(signals.topic_likes),
                "accepted": float(signals.accepted),
                "staff": float(signals.staff),
            }
        )
    return rows


def level_features(candidates: Sequence[Candidate], orders: Sequence[float]) -> dict[str, float]:
    """One row a question, over its five best candidates: does the forum speak of this at all, and do they answer?"""
    ranked = [one for _, one in sorted(zip(orders, candidates, strict=True), key=lambda pair: -pair[0])]
    best = ranked[:5]
    match = ranked[0].match
    cosines = [one.match.cosine or 0.0 for one in best]
    top_cosine = max(one.match.cosine or 0.0 for one in candidates)
    return {
        "top_cosine": top_cosine,
        "sized_cosine": top_cosine + match.background_spread * (_best_of(_POSTS) - _best_of(match.documents)),
        "mean_cosine": sum(cosines) / len(cosines),
        "background": match.background_mean,
        "stands_out": min((top_cosine - match.background_mean) / max(match.background_spread, 0.02), 10.0),
        "top_coverage": max(one.match.coverage for one in best),
        "mean_coverage": sum(one.match.coverage for one in best) / len(best),
        "rare_coverage": max(one.match.rare_coverage for one in best),
        "top_title": max(one.match.title_overlap for one in best),
        "top_bm25": max(_bm25_share(one) for one in best),
        "agreement": sum("posts" in one.ranks and "keyword" in one.ranks for one in best) / len(best),
        "unknown": match.unknown,
        "strange": max(match.unknown - match.novelty, 0.0),
        "novelty": match.novelty,
        "terms": math.log1p(match.question_terms),
    }


def _best_of(posts: int) -> float:
    """How many standard deviations the best of so many lies above their mean, by chance: sqrt(2 ln n), Gauss's tail.

    The nearest of 500 posts is further away than the nearest of 100,000, however well the forum answers.
    """
    return math.sqrt(2 * math.log(max(posts, 2)))


def _bm25_share(candidate: Candidate) -> float:
    """BM25 as a share of the most that the question's terms could give, 0 to 1."""
    match = candidate.match
    return match.bm25 / (match.idf_sum * (K1 + 1)) if match.idf_sum else 0.0


def _reciprocal(candidate: Candidate, channel: str) -> float:
    rank = candidate.ranks.get(channel)
    return (_K + 1) / (_K + rank) if rank else 0.0
