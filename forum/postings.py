"""BM25Okapi over whole posting lists: every post that holds a term of the question, scored at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from forum.bm25 import K1, B, Corpus

#: An entry's bits, from the top: 13 of the post's id within its block, 12 of its length, 6 of the term's count.
BLOCK_BITS = 13
_COUNT_BITS = 6
_LENGTH_BITS = 12
#: One score in so many is looked at to tell where the best begin.
_SAMPLED = 32

Ids = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]


#: Term, block of post ids, entries: the posts of the block that hold the term, as `posting_entry` writes them.
Posting = tuple[str, int, bytes]


@dataclass(frozen=True, slots=True)
class Scored:
    """A score for each id of these blocks of ids, ascending; 0 where no term is held."""

    blocks: Ids
    scores: Scores

    def __len__(self) -> int:
        """How many posts hold a term."""
        return int(np.count_nonzero(self.scores))

    def best(self, count: int) -> tuple[list[int], list[float]]:
        """The ids and scores of the best `count`, best first; of equal ones the older post."""
        chosen = self._above(count)
        if count < len(chosen):
            # All that tie with the last are kept until the ids have decided.
            scores = self.scores[chosen]
            chosen = chosen[scores >= np.partition(scores, len(chosen) - count)[len(chosen) - count]]
        ids = (self.blocks[chosen >> BLOCK_BITS] << BLOCK_BITS) + (chosen & (2**BLOCK_BITS - 1))
        order = np.lexsort((ids, -self.scores[chosen]))[:count]
        return ids[order].tolist(), self.scores[chosen[order]].tolist()

    def raised(self, by: Mapping[int, float]) -> Scored:
        """The same with these added to the scores of some posts."""
        ids, scores = np.fromiter(by, np.int64, len(by)), self.scores.copy()
        places = np.searchsorted(self.blocks, ids >> BLOCK_BITS) << BLOCK_BITS
        scores[places + (ids & (2**BLOCK_BITS - 1))] += np.fromiter(by.values(), np.float64, len(by))
        return Scored(self.blocks, scores)

    def _above(self, count: int) -> Ids:
        """Places of the best `count` and not many more, as a sample tells: a partition of all costs ten times that."""
        sample = np.sort(self.scores[::_SAMPLED])
        wanted = 2 * count // _SAMPLED + 16
        if wanted < len(sample) and (cut := sample[-wanted]) > 0:
            chosen = np.flatnonzero(self.scores >= cut)
            if len(chosen) >= count:
                return chosen
        return np.flatnonzero(self.scores)


def scored(postings: Sequence[Posting], asked: Mapping[str, float], corpus: Corpus) -> Scored:
    """The BM25 of every post in these lists (forum.bm25's formula), each term weighted by `asked`.

    Lengths over 4,095 terms and counts over 63 are capped in the lists.
    """
    if not postings:
        return Scored(np.zeros(0, np.int64), np.zeros(0))
    terms, numbers, lists = zip(*postings, strict=True)
    entries = np.frombuffer(b"".join(lists), dtype=">u4").astype(np.uint32)
    held = np.array([len(one) // 4 for one in lists])
    blocks, places = np.unique(np.array(numbers, np.int64), return_inverse=True)
    weights = {term: weight * corpus.idf(term) for term, weight in asked.items()}
    each = np.array([weights.get(term, 0.0) for term in terms], np.float32)
    held_at = (entries & (2 ** (_LENGTH_BITS + _COUNT_BITS) - 1)).astype(np.int64)
    worth = _worths(corpus.average_length).take(held_at, mode="clip")
    worth *= np.repeat(each, held)
    at = (entries >> (_LENGTH_BITS + _COUNT_BITS)).astype(np.int64)
    at += np.repeat(places << BLOCK_BITS, held)
    scores = np.asarray(np.bincount(at, weights=worth, minlength=len(blocks) << BLOCK_BITS), dtype=np.float64)
    return Scored(blocks, scores)


@lru_cache(maxsize=4)
def _worths(average_length: float) -> npt.NDArray[np.float32]:
    """What a term of idf 1 gives a post, by the post's length and the term's count as an entry's bits hold them."""
    count = np.arange(2**_COUNT_BITS, dtype=np.float32)
    length = np.arange(2**_LENGTH_BITS, dtype=np.float32)[:, np.newaxis]
    norm = K1 * (1 - B + B * length / np.float32(average_length)) if average_length else np.full_like(length, K1)
    return np.asarray(count * (K1 + 1) / (count + norm), dtype=np.float32).ravel()
