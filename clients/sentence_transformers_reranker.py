"""A cross-encoder in this process with sentence-transformers; torch is imported at first use only."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from clients.local_reranker import BATCH, POSITIONS, Loaded, LocalReranker
from forum.config import RerankerSection
from forum.errors import ConfigError


class SentenceTransformersReranker(LocalReranker):
    """Logits whatever the library's default activation is in its version.

    Raises ConfigError when the library or model is missing, and what LocalReranker raises.
    """

    def __init__(self, section: RerankerSection, *, load: Callable[[str], Any] | None = None) -> None:
        cross_encoder = load or _cross_encoder
        super().__init__(section.model, lambda name: _scoring(cross_encoder(name)))


def _scoring(model: Any) -> Loaded:
    return partial(
        model.predict,
        batch_size=BATCH,
        activation_fn=_identity,
        convert_to_numpy=True,
        show_progress_bar=False,
    )


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
        return CrossEncoder(name, device="cpu", max_length=POSITIONS)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"reranker.model: {name} cannot be loaded ({' '.join(str(error).split())[:200]}): name a folder that "
            "holds the model, or one that can be downloaded."
        ) from error
