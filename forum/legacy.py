"""The legacy path's gate and boosts: what orders topics by title and standing when post vectors cannot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from forum.types import Candidate

#: Added to an RRF score, whose best possible is about 2/61: each boost is worth some ranks, none decides alone.
TITLE = 0.016
ACCEPTED = 0.003
LIKES = 0.002
RECENCY = 0.002
_HALF_LIFE_DAYS = 730.0


def passes_title_gate(candidate: Candidate) -> bool:
    """A topic that only the diluted topics channel found must share a word with the question by its title."""
    return set(candidate.ranks) != {"topics"} or candidate.match.title_overlap > 0


def boosted(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that pass the gate, by RRF plus boosts for title match, accepted answer, likes, recency."""
    passed = [replace(one, rrf=one.rrf + boost(one)) for one in candidates if passes_title_gate(one)]
    return sorted(passed, key=lambda one: (-one.rrf, one.passage.post_id))


def boost(candidate: Candidate) -> float:
    """The sum of the boosts; likes saturate at about 50, recency halves every two years."""
    signals = candidate.passage.signals
    return (
        TITLE * candidate.match.title_overlap
        + ACCEPTED * signals.accepted
        + LIKES * min(1.0, math.log1p(signals.topic_likes) / math.log(51))
        + RECENCY * math.exp2(-signals.topic_age_days / _HALF_LIFE_DAYS)
    )
