"""The piece of a post that says most about the question."""

from __future__ import annotations

import re
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
    wanted = frozenset(terms(question))
    found = [
        (word.start(), word.end(), hits)
        for word in _WORD.finditer(text)
        if (hits := wanted.intersection(_terms_of(word.group())))
    ]
    best, start = 0, 0
    for at, (left, _, _) in enumerate(found):
        held: set[str] = set()
        for _begin, end, hits in found[at:]:
            if end - left > limit:
                break
            held |= hits
        if len(held) > best:
            best, start = len(held), left
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


@lru_cache(maxsize=20_000)
def _terms_of(word: str) -> frozenset[str]:
    return frozenset(terms(word))
