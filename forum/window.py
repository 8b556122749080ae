"""The piece of a post that says most about the question."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from forum.terms import terms
from forum.text import excerpt

_WORD = re.compile(r"[\w.+#'’-]+")


def best_window(text: str, question: str, limit: int) -> str:
    """The verbatim piece of at most `limit` characters that holds the most distinct question terms.

    Of equal pieces the first; the beginning of the post when no term occurs.
    """
    if len(text) <= limit:
        return text.strip()
    hits_of = _hits_of(question)
    found = [(word.start(), word.end(), hits) for word in _WORD.finditer(text) if (hits := hits_of[word.group()])]
    best, start, first = 0, 0, 0
    held: Counter[str] = Counter()
    # One pass: the window grows by a word and loses those that are further away than `limit`.
    for at, (_, end, hits) in enumerate(found):
        held.update(hits)
        while first <= at and end - found[first][0] > limit:
            held.subtract(found[first][2])
            held = +held
            first += 1
        if len(held) > best:
            best, start = len(held), found[first][0]
    if not best:
        return excerpt(text, limit)
    return excerpt(text[_sentence_start(text, start, limit) :], limit)


def _sentence_start(text: str, at: int, limit: int) -> int:
    """The start of the sentence or line that `at` stands in, when it is near; else `at` itself."""
    earliest = at - limit // 3
    if earliest <= 0:
        return 0
    ends = [place + len(mark) for mark in ("\n", ". ", "? ", "! ") if (place := text.rfind(mark, earliest, at)) >= 0]
    return max(ends, default=at)


class _Hits(dict[str, frozenset[str]]):
    """The terms of one question that a word stands for, filled as words are met."""

    def __init__(self, question: str) -> None:
        self._wanted = frozenset(terms(question))

    def __missing__(self, word: str) -> frozenset[str]:
        hits = self[word] = self._wanted.intersection(_terms_of(word))
        return hits


@lru_cache(maxsize=8)
def _hits_of(question: str) -> _Hits:
    return _Hits(question)


@lru_cache(maxsize=131_072)
def _terms_of(word: str) -> frozenset[str]:
    return frozenset(terms(word))
