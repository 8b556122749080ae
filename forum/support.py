"""Scores how far a passage supports a sentence, by the sentence's own rare terms and its figures."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable

from forum.terms import terms

#: Figures, versions and identifiers must stand in the source as they are: they are what a wrong answer gets wrong.
_EXACT = re.compile(r"\d[\d.,:/-]*\d|\d|\b\w+[_./-]\w[\w./-]*\b")

Idf = Callable[[str], float]


def support(sentence: str, passage: str, idf: Idf) -> float:
    """Share (0 to 1) of the sentence's terms, weighted by idf, that stand in the passage; 0 when a figure does not.

    A sentence without terms of its own claims nothing: 1.
    """
    wanted = set(terms(sentence))
    if not wanted:
        return 1.0
    low = passage.lower()
    if any(token.lower().strip(".,:/-") not in low for token in _EXACT.findall(sentence)):
        return 0.0
    held = set(terms(passage)) & wanted
    total = sum(idf(term) for term in wanted)
    return sum(idf(term) for term in held) / total if total else 1.0


def inverse_document_frequency(frequencies: Callable[[str], int], documents: int) -> Idf:
    """BM25's non-negative idf, log(1 + (N - df + 0.5) / (df + 0.5)), over the whole index."""
    return lambda term: math.log1p((documents - min(frequencies(term), documents) + 0.5) / (frequencies(term) + 0.5))


def best_quote(sentence: str, candidates: Iterable[str], idf: Idf) -> tuple[str, float]:
    """The candidate piece of the passage that supports the sentence most, with its support."""
    scored = [(support(sentence, piece, idf), -len(piece), piece) for piece in candidates]
    best = max(scored, default=(0.0, 0, ""))
    return best[2], best[0]
