"""Takes over the vectors of Discourse AI, after a check that our embedder gives the same ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clients.discourse_vectors import DiscourseVectors, ForeignVector
from clients.embed_batches import checked
from clients.postgres.ingest import Ingest
from clients.postgres.store_rows import VectorRow
from forum.compose import cut
from forum.errors import ModelMismatch, UsageError
from forum.ports import Embedder, Vectors

#: The same model, pooled and normalised alike, gives .999 and more on the same text; half precision and a cut at
#: another token cost a little.
LEAST_COSINE = 0.98
SAMPLE = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Adopted:
    """How many vectors were taken over, and the mean cosine of the check."""

    vectors: int
    cosine: float


def adopt(foreign: DiscourseVectors, ingest: Ingest, embedder: Embedder) -> Adopted:
    """Give every indexed text without a vector the one that Discourse AI has.

    Raises ModelMismatch with the figure when 20 posts' vectors are not our embedder's, UsageError when there are none.
    """
    model = ingest.model
    cosine: float | None = None
    taken = 0
    for page in foreign.read():
        texts = {text.id: text for text in ingest.store.texts([one.post_id for one in page])}
        public = [one for one in page if one.post_id in texts]
        if not public:
            continue
        if cosine is None:
            cosine = _cosine(public[:SAMPLE], embedder)
            if cosine < LEAST_COSINE:
                raise ModelMismatch(
                    f"The vectors of Discourse AI are not those of {embedder.model.name}: mean cosine {cosine:.3f} over"
                    f" {len(public[:SAMPLE])} posts, at least {LEAST_COSINE} is needed. Nothing was taken over."
                )
        held = ingest.store.known_vectors(list(texts), model.id)
        rows = [
            VectorRow(post_id=one.post_id, content_hash=digest, vector=_unit(one.vector))
            for one in public
            if (digest := texts[one.post_id].content_hash) is not None and held.get(one.post_id) != digest
        ]
        if rows:
            ingest.store.put_vectors(rows, model.id)
            taken += len(rows)
    if cosine is None:
        raise UsageError(
            f"Discourse AI has no vectors of {model.dimensions} dimensions that are as new as their posts."
        )
    return Adopted(vectors=taken, cosine=cosine)


def _cosine(sample: list[ForeignVector], embedder: Embedder) -> float:
    ours = checked(
        embedder.embed_passages([cut(one.text, embedder.model.max_tokens) for one in sample]), len(sample), embedder
    )
    theirs = np.array([_unit(one.vector) for one in sample])
    return float((ours * theirs).sum(axis=1).mean())


def _unit(vector: Vectors) -> Vectors:
    unit: Vectors = vector / (np.linalg.norm(vector) or 1.0)
    return unit
