"""Gathers what the forum could not answer into gaps, closes those that people answered, and notes complaints."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping

import structlog

from clients.postgres.gap_store import GapStore
from forum.bm25 import Corpus
from forum.complaint import is_complaint
from forum.config import Config
from forum.same_question import best_group, term_weights
from forum.terms import terms

log = structlog.get_logger("threadcite.gaps")


class Gaps:
    """`statistics` tells how many posts there are, and how many hold each term."""

    def __init__(
        self, store: GapStore, config: Callable[[], Config], *, statistics: Callable[[list[str]], Corpus]
    ) -> None:
        self._store, self._config, self._statistics = store, config, statistics

    def gather(self) -> None:
        """Bring gaps and complaints up to date; may run twice or late."""
        for reply in self._store.complaints_to_judge():
            if is_complaint(reply["question"]):
                self._store.complain(reply)
        closed = self._store.tidy(bot=self._config().forum.bot_username)
        if closed:
            log.info("gaps_closed", gaps=closed)
        new = self._store.ungrouped()
        if not new:
            return
        members = self._store.members()
        texts = [_text(row["question"], row["title"]) for row in (*members, *new)]
        idf = self._idf(texts)
        groups: defaultdict[int, list[Mapping[str, float]]] = defaultdict(list)
        for row in members:
            groups[row["gap_id"]].append(term_weights(_text(row["question"], row["title"]), idf))
        for row in new:
            weights = term_weights(_text(row["question"], row["title"]), idf)
            gap_id = self._store.put(row["post_id"], best_group(weights, groups.items()))
            groups[gap_id].append(weights)

    def _idf(self, texts: list[str]) -> Callable[[str], float]:
        """ln(1 + N / (1 + df)): a word that no post holds weighs most, for that is what the forum lacks."""
        corpus = self._statistics(sorted({term for text in texts for term in terms(text)}))
        documents = max(corpus.documents, 1)
        return lambda term: math.log(1 + documents / (1 + corpus.frequencies.get(term, 0)))


def _text(question: str, title: str) -> str:
    return f"{title}\n{question}".strip()
