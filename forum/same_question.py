"""Which questions ask the same: by the rare words that they share, so that a gap of the forum is seen once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from forum.terms import terms

#: Cosine of two questions' rare terms from which they count as the same.
ALIKE = 0.4


def term_weights(text: str, idf: Callable[[str], float]) -> dict[str, float]:
    """The question's distinct stemmed terms with their idf, as a vector of length 1; empty for no terms."""
    weights = {term: max(idf(term), 0.0) for term in set(terms(text))}
    length = math.sqrt(sum(weight * weight for weight in weights.values()))
    return {term: weight / length for term, weight in weights.items()} if length else {}


def likeness(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Cosine of two vectors of `term_weights`, 0 to 1."""
    return sum(weight * other.get(term, 0.0) for term, weight in one.items())


def best_group(
    question: Mapping[str, float], groups: Iterable[tuple[int, Sequence[Mapping[str, float]]]], *, least: float = ALIKE
) -> int | None:
    """The id of the group with the likest question, if it is alike enough."""
    scored = [(max((likeness(question, member) for member in members), default=0.0), -key) for key, members in groups]
    score, key = max(scored, default=(0.0, 0))
    return -key if score >= least else None
