"""Embeds many texts in bounded batches and finds, by halving, the ones that the embedder cannot take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from forum.compose import CHARACTERS_PER_TOKEN
from forum.errors import ModelMismatch, RemoteRefused, RemoteUnavailable
from forum.ports import Embedder, Vectors

#: Under the 2 MB that TEI takes, with room for JSON escapes.
BATCH_BYTES = 1_000_000
BATCH_TEXTS = 256
TRIES = 3
#: What services answer to an input that is too long, whatever they promised about cutting it.
_TOO_LONG = (400, 413, 422)
#: A text that any embedder takes: tells a poisonous text from a service that is ill.
_PROBE = "Hello"


@runtime_checkable
class NotesCuts(Protocol):
    """An embedder that notices when its service read only a part of a text."""

    def cut_in_last_call(self) -> frozenset[int]:
        """Positions in this thread's last call."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Poison:
    """Why a text has no vector, after how many tries of it alone."""

    reason: str
    tries: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Embedded:
    """For each text its vector or its Poison, in the order given, and the ones that were shortened to get through."""

    results: tuple[Vectors | Poison, ...]
    shortened: frozenset[int] = field(default_factory=frozenset)


def embed_all(embedder: Embedder, texts: Sequence[str], *, batch_tokens: int) -> Embedded:
    """Unit vectors for the texts, which must not be empty.

    A batch that fails is halved until the text that makes it fail stands alone (about 2 log2 n calls); that one is
    tried TRIES times, shorter each time when it is refused for its length. Raises RemoteUnavailable when the service
    fails for any text, ModelMismatch for vectors of another length than the model's.
    """
    results: dict[int, Vectors | Poison] = {}
    shortened: set[int] = set()
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    for batch in _batches(order, texts, batch_tokens):
        _embed(embedder, batch, texts, results, shortened)
    return Embedded(results=tuple(results[at] for at in range(len(texts))), shortened=frozenset(shortened))


def _batches(order: Sequence[int], texts: Sequence[str], batch_tokens: int) -> Iterator[list[int]]:
    """By token and byte: short texts first, so that a padded batch holds texts of about one length."""
    batch: list[int] = []
    size = 0
    for at in order:
        length = len(texts[at])
        # Padded to the longest, which is this one.
        tokens = (len(batch) + 1) * (length // CHARACTERS_PER_TOKEN + 1)
        size += 4 * length if not texts[at].isascii() else length
        if batch and (tokens > batch_tokens or size > BATCH_BYTES or len(batch) == BATCH_TEXTS):
            yield batch
            batch, size = [], length
        batch.append(at)
    if batch:
        yield batch


def _embed(
    embedder: Embedder,
    batch: list[int],
    texts: Sequence[str],
    results: dict[int, Vectors | Poison],
    shortened: set[int],
) -> None:
    todo = [batch]
    while todo:
        part = todo.pop()
        try:
            vectors = checked(embedder.embed_passages([texts[at] for at in part]), len(part), embedder)
        except (RemoteRefused, RemoteUnavailable) as error:
            if not _may_be_the_text(error):
                raise
            if len(part) > 1:
                middle = len(part) // 2
                todo += [part[middle:], part[:middle]]
            else:
                results[part[0]] = _alone(embedder, texts[part[0]], part[0], shortened)
            continue
        if isinstance(embedder, NotesCuts):
            shortened.update(part[at] for at in embedder.cut_in_last_call())
        for at, vector in zip(part, vectors, strict=True):
            results[at] = vector if _usable(vector) else _alone(embedder, texts[at], at, shortened)


def _alone(embedder: Embedder, text: str, at: int, shortened: set[int]) -> Vectors | Poison:
    """A text that failed is tried again; one that was refused as an input, at half and a quarter of its length."""
    reason, share = "", 1
    for _ in range(TRIES):
        try:
            vector: Vectors = checked(embedder.embed_passages([text[: max(len(text) // share, 1)]]), 1, embedder)[0]
        except (RemoteRefused, RemoteUnavailable) as error:
            if not _may_be_the_text(error):
                raise
            reason = str(error)
            share *= 2 if error.status in _TOO_LONG else 1
            continue
        if _usable(vector):
            if share > 1:
                shortened.add(at)
            return vector
        reason = "the embedder gave a vector of NaN, infinity or zeros"
    # Nothing else tells a poisonous text from an embedder that fails at everything. Raises what it raises.
    if not _usable(checked(embedder.embed_passages([_PROBE]), 1, embedder)[0]):
        raise RemoteUnavailable(f"{embedder.model.name} gives no usable vector even for a plain word.")
    return Poison(reason=reason[:300], tries=TRIES)


def _may_be_the_text(error: RemoteRefused | RemoteUnavailable) -> bool:
    """A refusal of the input, or a failure while working on it; not an address, a key, a model or an overload."""
    return error.status in _TOO_LONG or error.status in (424, 500)


def _usable(vector: Vectors) -> bool:
    return bool(np.isfinite(vector).all() and vector.any())


def checked(vectors: Vectors, count: int, embedder: Embedder) -> Vectors:
    """The vectors, when they are as many and as long as they must be; at length 1.

    Raises ModelMismatch, or RemoteRefused when their number is wrong.
    """
    model = embedder.model
    array = np.asarray(vectors, dtype=np.float32)
    if array.ndim != 2 or array.shape[0] != count:
        raise RemoteRefused(f"{model.name} answered {array.shape} for {count} texts.", service=model.name)
    if array.shape[1] != model.dimensions:
        raise ModelMismatch(
            f"{model.name} gives {array.shape[1]} dimensions, expected {model.dimensions}:"
            " set embedder.dimensions or embedder.model in config.yml."
        )
    norms = np.linalg.norm(array, axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(norms > 0, array / norms, array).astype(np.float32)
