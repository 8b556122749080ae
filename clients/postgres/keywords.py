"""The keyword channel: what a question's words weigh in this forum, and the BM25 of the posts that hold them."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, chain
from typing import Any

from clients.postgres.arguments import array, joined, scope_arguments
from clients.postgres.pool import Connection
from clients.postgres.queries import queries
from forum.bm25 import Corpus, bm25
from forum.matching import unknown_share
from forum.postings import Scored, scored
from forum.spelling import may_be_misspelled, near_spellings, respelled
from forum.terms import query_terms, terms
from forum.types import Scope

#: Posts in the posting lists that are read for one question, rarest terms first; commoner terms are then counted in the
#: best KEYWORD_CANDIDATES alone. Measured at 425,000 posts, against reading all lists: .992 of the ten best over
#: 100 questions; .987 with two thirds as many, .997 with 500 candidates in a third more time.
KEYWORD_POSTINGS = 300_000
KEYWORD_CANDIDATES = 200
#: More distinct terms than a question's first 600 characters hold.
_MANY = 400
#: Unknown words of one question that are looked up in other spellings.
_RESPELLED = 12
_KEEP_S = 600.0


class Keywords:
    """The forum's statistics and posting lists, read over the caller's connection."""

    def __init__(self) -> None:
        self._sql = queries("index")
        self._novelty_known: tuple[float, float] = (-_KEEP_S, 0.0)

    def corpus(self, connection: Connection, terms: Sequence[str], scope: Scope | None = None) -> Corpus:
        """The forum's statistics of these terms; without the topics and posts that the scope excludes."""
        arguments: dict[str, Any] = {"terms": joined(set(terms))}
        (_, documents, length), *rows = connection.execute(self._sql["statistics"], arguments).fetchall()
        frequencies: dict[str, int] = {term: frequency for term, frequency, _ in rows}
        if scope is not None and (scope.exclude_topic_ids or scope.exclude_post_ids):
            for term, count in connection.execute(
                self._sql["frequencies_within"], {**arguments, **scope_arguments(scope)}
            ):
                frequencies[term] = frequencies.get(term, 0) - count
        return Corpus(
            documents=documents,
            average_length=length / documents if documents else 0.0,
            frequencies={term: frequency for term, frequency in frequencies.items() if frequency > 0},
        )

    def respelled(self, connection: Connection, asked: Sequence[str], corpus: Corpus) -> tuple[dict[str, str], Corpus]:
        """What each word that the forum does not hold was meant as, and the statistics with those words."""
        unknown = [term for term in asked if term not in corpus.frequencies and may_be_misspelled(term)][:_RESPELLED]
        if not unknown:
            return {}, corpus
        near = {spelling for term in unknown for spelling in near_spellings(term)}
        known = self.corpus(connection, list(near)).frequencies
        meant = respelled(unknown, known)
        added = {term: known[term] for term in meant.values()}
        return meant, replace(corpus, frequencies={**added, **corpus.frequencies})

    def novelty(self, connection: Connection) -> float:
        """See Corpus.novelty; as it was ten minutes ago at most."""
        read_at, share = self._novelty_known
        if time.monotonic() - read_at > _KEEP_S:
            (share,) = connection.execute(self._sql["novelty"]).fetchone() or (0.0,)
            self._novelty_known = (time.monotonic(), share)
        return share

    def weights(self, connection: Connection, text: str, scope: Scope) -> tuple[dict[str, int], Corpus]:
        """Each term of the question that the forum holds, how often it counts, and the statistics of all of them."""
        readings, words = readings_of(text)
        corpus = self.corpus(connection, words, scope)
        asked = min(readings, key=lambda reading: unknown_share(reading, corpus))
        meant, corpus = self.respelled(connection, asked, corpus)
        counted = Counter(meant.get(term, term) for term in asked)
        return {term: counted[term] or 1 for term in corpus.frequencies}, corpus

    def scored(self, connection: Connection, weights: Mapping[str, int], corpus: Corpus, limit: int) -> Scored:
        """Every post that holds one of these terms, with its BM25."""
        rarest = sorted(weights, key=lambda term: (corpus.frequencies[term], term))
        total = list(accumulate(corpus.frequencies[term] for term in rarest))
        affordable = max(bisect_right(total, KEYWORD_POSTINGS), 1)
        read, left = rarest[:affordable], {term: weights[term] for term in rarest[affordable:]}
        lists = connection.execute(self._sql["postings"], {"terms": joined(read)}, binary=True).fetchall()
        found = scored(lists, weights, corpus)
        if not left:
            return found
        best, _ = found.best(max(KEYWORD_CANDIDATES, 2 * limit))
        arguments = {"ids": array(best), "terms": joined(left)}
        rows = connection.execute(self._sql["term_counts"], arguments).fetchall()
        return found.raised({post: bm25(term_counts(said), length, left, corpus) for post, length, _, said in rows})


def term_counts(said: str) -> dict[str, int]:
    """`term 2 other 1`: terms have no spaces."""
    words = said.split(" ") if said else []
    return dict(zip(words[::2], map(int, words[1::2]), strict=True))


@lru_cache(maxsize=64)
def readings_of(text: str) -> tuple[list[tuple[str, ...]], list[str]]:
    """The question's terms in order, both ways to stem them when the text does not show its language; and all terms."""
    plain, either = tuple(terms(text)), query_terms(text, _MANY)
    readings = [plain] if set(either) == set(plain) else [plain, tuple(terms(text, "fr"))]
    return readings, [*either, *chain(*readings)]
