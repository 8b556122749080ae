"""How near posts are to a question, and how near any post of this forum would be."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from pgvector import HalfVector
from psycopg.sql import SQL, Literal

from clients.postgres.arguments import array
from clients.postgres.pool import Connection
from clients.postgres.queries import queries
from forum.matching import Closeness
from forum.ports import Vectors
from forum.types import Scope

#: Posts of the sample, at least.
_BACKGROUND = 256
_KEEP_S = 600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Background:
    model_id: int
    read_at: float
    vectors: Vectors
    created_at: tuple[datetime, ...]


class Measured:
    """Cosines over the vectors of the model named `embedder`; the forum's sample as it was ten minutes ago at most."""

    def __init__(self, embedder: str) -> None:
        self._embedder = embedder
        self._sql = queries("index")
        self._background: _Background | None = None

    def closeness(
        self,
        connection: Connection,
        vector: Vectors,
        post_ids: Sequence[int],
        scope: Scope,
        *,
        model_id: int,
        documents: int,
    ) -> Closeness:
        """`documents`: how many posts the forum has. A scope's `before` holds for the sample as well."""
        rows = connection.execute(
            SQL(self._sql["cosines"]).format(model=Literal(model_id)),
            {"vector": HalfVector(vector), "ids": array(post_ids)},
        ).fetchall()
        known = self._background
        if known is None or known.model_id != model_id or time.monotonic() - known.read_at > _KEEP_S:
            known = self._background = self._read(connection, model_id, documents)
        vectors = known.vectors
        if (before := scope.before) is not None:
            vectors = vectors[np.array([at < before for at in known.created_at], dtype=bool)]
        sample = vectors @ vector if len(vectors) > 1 else np.zeros(1, dtype=np.float32)
        return Closeness(
            embedder=self._embedder, cosines=dict(rows), mean=float(sample.mean()), spread=float(sample.std())
        )

    def _read(self, connection: Connection, model_id: int, documents: int) -> _Background:
        rows = connection.execute(
            SQL(self._sql["background"]).format(model=Literal(model_id)),
            {"every": max(1, documents // _BACKGROUND), "limit": 2 * _BACKGROUND},
        ).fetchall()
        vectors = np.array([row[0].to_numpy() for row in rows], dtype=np.float32).reshape(len(rows), -1)
        created_at = tuple(row[1] for row in rows)
        return _Background(model_id=model_id, read_at=time.monotonic(), vectors=vectors, created_at=created_at)
