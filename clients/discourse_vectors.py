"""The vectors that Discourse AI keeps in the forum's own database, read only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import psycopg
from psycopg.rows import dict_row
from selectolax.lexbor import LexborHTMLParser

from clients.postgres.queries import queries
from forum.errors import UsageError
from forum.ports import Vectors

_PAGE = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class ForeignVector:
    """A post's vector, and the text that Discourse AI made it from: title, category, tags, all of the cooked text."""

    post_id: int
    text: str
    vector: Vectors


class DiscourseVectors:
    """Vectors of one dimension that are as new as their posts. Raises UsageError when there are none."""

    def __init__(self, url: str, *, dimensions: int) -> None:
        self._url, self._dimensions = url, dimensions
        self._sql = queries("discourse")

    def read(self, *, before: int = 2**62) -> Iterator[list[ForeignVector]]:
        """Pages of vectors, newest posts first."""
        with self._connect() as connection:
            while True:
                rows = connection.execute(
                    self._sql["ai_vectors"], {"before": before, "limit": _PAGE, "dimensions": self._dimensions}
                ).fetchall()
                if not rows:
                    return
                before = rows[-1]["post_id"]
                yield [_foreign(row) for row in rows]

    @contextmanager
    def _connect(self) -> Iterator[psycopg.Connection[dict[str, Any]]]:
        try:
            connection = psycopg.connect(
                self._url,
                connect_timeout=5,
                row_factory=dict_row,
                options="-c default_transaction_read_only=on -c statement_timeout=60000",
            )
        except psycopg.OperationalError as error:
            raise UsageError(
                f"The Discourse database cannot be reached: {' '.join(str(error).split())[:200]}"
            ) from error
        with connection:
            if connection.execute("SELECT to_regclass('ai_posts_embeddings') AS t").fetchone() == {"t": None}:
                raise UsageError("This Discourse database has no ai_posts_embeddings: no vectors of Discourse AI.")
            yield connection


def _foreign(row: dict[str, Any]) -> ForeignVector:
    cooked = LexborHTMLParser(row["cooked"] or "", is_fragment=True).text()
    parts = (row["title"] or "", row["category"] or "", row["tags"] or "", cooked)
    vector = np.fromstring(row["vector"].strip("[]"), dtype=np.float32, sep=",")
    return ForeignVector(post_id=row["post_id"], text="\n\n".join(part for part in parts if part), vector=vector)
