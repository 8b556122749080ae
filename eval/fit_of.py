"""The fit behind the configured reranker, when it is ours."""

from __future__ import annotations

from clients.features_reranker import FeaturesReranker, Fit
from eval.runner import Runner


def fit_of(runner: Runner) -> Fit | None:
    """None when another reranker is configured."""
    reranker = runner.reranker
    return reranker.fit(runner.embedder.model.name) if isinstance(reranker, FeaturesReranker) else None
