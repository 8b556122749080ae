"""BM25Okapi over a candidate's term counts with the forum's global statistics (rank-bm25's formula)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

K1 = 1.5
B = 0.75
#: A term that stands in half of the posts or more still counts a little, so that a tiny forum finds its posts;
#: rank-bm25 gives such terms zero, less, or a share of the mean, depending on the corpus.
IDF_FLOOR = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class Corpus:
    """Global statistics: the number of posts, their mean length in terms, and each question term's frequency."""

    documents: int
    average_length: float
    frequencies: Mapping[str, int]
    #: The share, by idf, of a post's terms that no other post holds, on average: what is new in anything new.
    novelty: float = 0.0

    def idf(self, term: str) -> float:
        """ln((N - df + 0.5) / (df + 0.5)), at least IDF_FLOOR; a term that nobody wrote has the highest."""
        return _idf(self.documents, min(self.frequencies.get(term, 0), self.documents))


@lru_cache(maxsize=65_536)
def _idf(documents: int, frequency: int) -> float:
    return max(math.log((documents - frequency + 0.5) / (frequency + 0.5)), IDF_FLOOR)


def bm25(counts: Mapping[str, int], length: int, asked: Mapping[str, int], corpus: Corpus) -> float:
    """The score of a post of `length` terms that holds each term `counts[term]` times. Robertson, 1994.

    A term that the question repeats counts as often as it stands there (rank-bm25 sums over the question's words).
    """
    norm = K1 * (1 - B + B * length / corpus.average_length) if corpus.average_length else K1
    return sum(
        weight * corpus.idf(term) * tf * (K1 + 1) / (tf + norm)
        for term, tf in counts.items()
        if tf and (weight := asked.get(term, 0))
    )


def coverage(counts: Mapping[str, int], terms: tuple[str, ...], corpus: Corpus) -> float:
    """The share, by idf, of the question's terms that the post holds; 0 without terms."""
    whole = sum(corpus.idf(term) for term in terms)
    return sum(corpus.idf(term) for term in terms if counts.get(term, 0)) / whole if whole else 0.0
