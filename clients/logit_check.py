"""Refuses a cross-encoder that answers probabilities: compared with logit thresholds, nothing would ever abstain."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forum.errors import RemoteRefused
from forum.rerank_pair import PROBE, Pair, are_logits


class LogitCheck:
    """Asks until scores have shown themselves to be logits, by two pairs of its own if need be; then never again."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._proven = False

    def passed(self, scores: Sequence[float], score: Callable[[Sequence[Pair]], list[float]]) -> None:
        """Raises RemoteRefused when `scores` and those of the probe all lie in 0..1."""
        self._proven = self._proven or are_logits(scores) or are_logits(score(PROBE))
        if not self._proven:
            raise RemoteRefused(
                f"{self._model} answers values between 0 and 1, not logits: reranker.zones cannot be applied. Use a "
                "backend that gives raw scores.",
                service="reranker",
            )
