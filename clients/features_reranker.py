"""The reranker of the embedded default: a fitted logistic model over signals, nothing to download."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
FOLDS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Fit:
    """What was fitted for one embedder: the model, the order without link counts, and who trained it."""

    model: Model
    without_links: Logistic
    #: Each fitted without one fifth of the questions, so that none is judged by a fit that saw it.
    folds: tuple[Fit, ...] = ()
    questions: frozenset[str] = frozenset()

    def for_question(self, id: str) -> Fit:
        """The fit that did not see this question."""
        return self.folds[fold_of(id)] if self.folds and id in self.questions else self


def fold_of(id: str) -> int:
    """The fifth that a question belongs to, by its id."""
    return int.from_bytes(hashlib.sha256(id.encode()).digest()[:4], "big") % FOLDS


class FeaturesReranker:
    """Logits from `features.json`, or from the file that `reranker.model` names; raises ConfigError if unreadable."""

    def __init__(self, section: RerankerSection) -> None:
        self._fits = read_fits(Path(section.model) if section.model else COEFFICIENTS)

    @property
    def model_id(self) -> str:
        return "features"

    def score(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """One logit a candidate, by the model that was fitted for the embedder of their cosines."""
        if not candidates:
            return []
        return logits(candidates, self.fit(candidates[0].match.embedder).model)

    def fit(self, embedder: str) -> Fit:
        """The fit for this embedder, else the one for questions without vectors."""
        return self._fits.get(embedder) or self._fits[WITHOUT_VECTORS]


@cache
def read_fits(path: Path) -> Mapping[str, Fit]:
    """The fits by embedder; the key "" is for questions without vectors. Raises ConfigError."""
    try:
        fits = {name: _fit(values) for name, values in read_content(path)["models"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(f"{path}: not a file of `python -m eval fit-features`: {error!r}") from error
    if WITHOUT_VECTORS not in fits:
        raise ConfigError(f'{path}: the model "" (for questions without vectors) is missing')
    return fits


def read_content(path: Path) -> dict[str, Any]:
    """The coefficients file as it stands. Raises ConfigError."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: not a file of `python -m eval fit-features`: {error!r}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: not a file of `python -m eval fit-features`")
    return content


def _fit(values: Mapping[str, Any]) -> Fit:
    return Fit(
        model=Model(order=_logistic(values["order"]), level=_logistic(values["level"])),
        without_links=_logistic(values["order_without_links"]),
        folds=tuple(_fit(one) for one in values.get("folds", ())),
        questions=frozenset(str(one) for one in values.get("questions", ())),
    )


def _logistic(values: Mapping[str, Any]) -> Logistic:
    return Logistic(
        intercept=float(values["intercept"]),
        weights={str(name): float(weight) for name, weight in values["weights"].items()},
    )
