"""The reranker of the embedded default: a fitted logistic model over signals, nothing to download."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from forum.config import RerankerSection
from forum.errors import ConfigError
from forum.features import Logistic, Model, logits
from forum.types import Candidate

COEFFICIENTS = Path(__file__).with_name("features.json")
#: Fits for questions without vectors, and for vectors of an embedder that nothing was fitted on.
WITHOUT_VECTORS = ""


class FeaturesReranker:
    """Logits from `features.json`, or from the file that `reranker.model` names; raises ConfigError if unreadable."""

    def __init__(self, section: RerankerSection) -> None:
        self._models = read_models(Path(section.model) if section.model else COEFFICIENTS)

    @property
    def model_id(self) -> str:
        return "features"

    def score(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """One logit a candidate, by the model that was fitted for the embedder of their cosines."""
        if not candidates:
            return []
        embedder = candidates[0].match.embedder
        return logits(candidates, self._models.get(embedder) or self._models[WITHOUT_VECTORS])


@cache
def read_models(path: Path) -> Mapping[str, Model]:
    """The fitted models by embedder; the key "" is for questions without vectors. Raises ConfigError."""
    try:
        models = {name: _model(fit) for name, fit in read_content(path)["models"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(f"{path}: not a file of `python -m eval fit-features`: {error!r}") from error
    if WITHOUT_VECTORS not in models:
        raise ConfigError(f'{path}: the model "" (for questions without vectors) is missing')
    return models


def read_content(path: Path) -> dict[str, Any]:
    """The coefficients file as it stands. Raises ConfigError."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: not a file of `python -m eval fit-features`: {error!r}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: not a file of `python -m eval fit-features`")
    return content


def _model(fit: Mapping[str, Any]) -> Model:
    return Model(order=_logistic(fit["order"]), level=_logistic(fit["level"]))


def _logistic(values: Mapping[str, Any]) -> Logistic:
    return Logistic(
        intercept=float(values["intercept"]),
        weights={str(name): float(weight) for name, weight in values["weights"].items()},
    )


def trained_questions(section: RerankerSection, embedder: str) -> frozenset[str]:
    """The ids of the questions that the coefficients for this embedder (else for none) were fitted on."""
    path = Path(section.model) if section.model else COEFFICIENTS
    models = read_content(path)["models"]
    chosen = models.get(embedder) or models[WITHOUT_VECTORS]
    return frozenset(str(one) for one in chosen.get("questions", ()))
