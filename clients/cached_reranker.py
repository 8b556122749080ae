"""Remembers a cross-encoder's logits, so that no pair of question and post version is read twice."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b

from forum.ports import Reranker
from forum.rerank_pair import Pair, pairs
from forum.types import Candidate

#: About 10 MB; a day of questions on a busy forum.
_PAIRS = 50_000


class CachedReranker:
    """The Reranker behind it, asked only for pairs that are not among the last `size` used; raises what it raises.

    A pair is remembered by a digest of what the model reads of it, so a new version of a post, another title or
    another excerpt is another pair, and nothing that a member wrote is kept.
    """

    def __init__(self, reranker: Reranker, *, size: int = _PAIRS) -> None:
        self._reranker = reranker
        self._size = size
        self._lock = threading.Lock()
        self._known: OrderedDict[bytes, float] = OrderedDict()

    @property
    def model_id(self) -> str:
        return self._reranker.model_id

    def score(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """One logit a candidate, in the order given; no call when all are known."""
        keys = [_digest(pair) for pair in pairs(question, candidates)]
        with self._lock:
            known = {key: self._known[key] for key in keys if key in self._known}
        missing = {key: one for key, one in zip(keys, candidates, strict=True) if key not in known}
        known |= zip(missing, self._reranker.score(question, list(missing.values())), strict=True)
        with self._lock:
            for key in keys:
                self._known[key] = known[key]
                self._known.move_to_end(key)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
        return [known[key] for key in keys]


def _digest(pair: Pair) -> bytes:
    question, document = pair
    return blake2b(f"{len(question)}\n{question}{document}".encode(), digest_size=16).digest()
