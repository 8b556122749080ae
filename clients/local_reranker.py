"""The half that cross-encoders in this process share: load once, one logit a pair, logits and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clients.logit_check import LogitCheck
from forum.errors import ModelMismatch
from forum.rerank_pair import Pair, pairs
from forum.types import Candidate

#: Used where `reranker.model` is empty.
DEFAULT = "cross-encoder/mmarco-mMiniLMv2-L12-H384-v1"
#: Pairs that a model reads at once, and the positions that it has for one of them.
BATCH = 32
POSITIONS = 512

#: A loaded model: pairs to its output, of shape (pairs,) or (pairs, labels).
Loaded = Callable[[Sequence[Pair]], NDArray[Any]]


class LocalReranker:
    """A Reranker over what `load` makes of the model's name, at first use and once.

    Raises what `load` raises, ModelMismatch for a model of several labels, RemoteRefused when it answers probabilities.
    """

    def __init__(self, name: str, load: Callable[[str], Loaded]) -> None:
        self._name = name or DEFAULT
        self._load = load
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None
        self._check = LogitCheck(self._name)

    @property
    def model_id(self) -> str:
        return self._name

    def score(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """One logit a candidate; an empty list loads and calls nothing."""
        if not candidates:
            return []
        scores = self._scores(pairs(question, candidates))
        self._check.passed(scores, self._scores)
        return scores

    def _scores(self, texts: Sequence[Pair]) -> list[float]:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load(self._name)
            found = np.asarray(self._loaded(texts), dtype=np.float64)
        if found.ndim == 2 and found.shape[1] == 1:
            found = found[:, 0]
        if found.shape != (len(texts),):
            raise ModelMismatch(
                f"reranker.model: {self._name} gives {found.shape[-1]} values a pair, a reranker gives one. Name a "
                "cross-encoder with one label."
            )
        return [float(one) for one in found]
