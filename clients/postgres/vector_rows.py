"""Texts become vectors to store, or the mark that the embedder would not have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from clients.embed_batches import Poison, embed_all
from clients.postgres.store_rows import VectorRow
from forum.compose import content_digest, cut
from forum.errors import RemoteUnavailable
from forum.ports import Embedder


def vector_rows(
    embedder: Embedder, texts: Mapping[int, str], *, batch_tokens: int, when_down: Literal["raise", "store"] = "raise"
) -> tuple[list[VectorRow], int, frozenset[int]]:
    """(rows, how many got none because the embedder is down, ids of the posts whose text had to be shortened).

    Raises RemoteUnavailable, but for `when_down` "store".
    """
    if not texts:
        return [], 0, frozenset()
    ids = list(texts)
    most = embedder.model.max_tokens
    try:
        embedded = embed_all(
            embedder,
            [cut(text, most) for text in texts.values()],
            batch_tokens=batch_tokens,
        )
    except RemoteUnavailable:
        if when_down == "raise":
            raise
        return [], len(texts), frozenset()
    rows = []
    for post_id, result in zip(ids, embedded.results, strict=True):
        digest = content_digest(texts[post_id])
        if isinstance(result, Poison):
            rows.append(
                VectorRow(post_id=post_id, content_hash=digest, vector=None, reason=result.reason, tries=result.tries)
            )
        else:
            rows.append(VectorRow(post_id=post_id, content_hash=digest, vector=result))
    return rows, 0, frozenset(ids[at] for at in embedded.shortened)
