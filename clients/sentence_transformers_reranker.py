"""A cross-encoder in this process with sentence-transformers; torch is imported at first use only."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from clients.logit_check import LogitCheck
from forum.config import RerankerSection
from forum.errors import ConfigError, ModelMismatch
from forum.rerank_pair import Pair, pairs
from forum.types import Candidate

DEFAULT = "cross-encoder/mmarco-mMiniLMv2-L12-H384-v1"
_BATCH = 32
_POSITIONS = 512


class SentenceTransformersReranker:
    """Logits whatever the library's default activation is in its version.

    Raises ConfigError when the library or model is missing, ModelMismatch for a model of several labels,
    RemoteRefused when it answers probabilities in spite of being asked for logits.
    """

    def __init__(self, section: RerankerSection, *, load: Callable[[str], Any] | None = None) -> None:
        self._name = section.model or DEFAULT
        self._load = load or _cross_encoder
        self._lock = threading.Lock()
        self._loaded: Any = None
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
            found = np.asarray(
                self._loaded.predict(
                    list(texts),
                    batch_size=_BATCH,
                    activation_fn=_identity,
                    convert_to_numpy=True,
                    show_progress_bar=False,
                ),
                dtype=np.float64,
            )
        if found.ndim == 2 and found.shape[1] == 1:
            found = found[:, 0]
        if found.shape != (len(texts),):
            raise ModelMismatch(
                f"reranker.model: {self._name} gives {found.shape[-1]} values a pair, a reranker gives one. Name a "
                "cross-encoder with one label."
            )
        return [float(one) for one in found]


def _identity(values: Any) -> Any:
    """Raw logits: the default is a sigmoid in some versions and models."""
    return values


def _cross_encoder(name: str) -> Any:
    try:
        from sentence_transformers import CrossEncoder
        from transformers.utils import logging as library_logging
    except ImportError as error:
        raise ConfigError(
            "reranker.backend: sentence-transformers is not installed: pip install 'threadcite[models]'."
        ) from error
    quiet: Any = library_logging
    quiet.disable_progress_bar()
    try:
        return CrossEncoder(name, device="cpu", max_length=_POSITIONS)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"reranker.model: {name} cannot be loaded ({' '.join(str(error).split())[:200]}): name a folder that "
            "holds the model, or one that can be downloaded."
        ) from error
