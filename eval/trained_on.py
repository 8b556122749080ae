"""Which questions the configured reranker was fitted on, so that none of them is scored by that fit."""

from __future__ import annotations

from clients.composition import build_embedder
from clients.features_reranker import trained_questions
from forum.config import Config


def trained_on(config: Config) -> frozenset[str] | None:
    """Question ids; None when the reranker is not ours."""
    if config.reranker.backend != "features":
        return None
    return trained_questions(config.reranker, build_embedder(config.embedder).model.name)
