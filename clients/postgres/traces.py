"""Stores and reads the traces of answers, with the posts that each rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from psycopg.types.json import Jsonb

from clients.postgres.pool import Database
from clients.postgres.queries import queries
from forum.types import Answer, Call
from forum.unicode_safety import json_safe, safe


def save_trace(
    database: Database, answer: Answer, body: dict[str, Any], *, question: str, ask_post_id: int | None = None
) -> None:
    """Keep an answer's trace and, in the same transaction, which posts it saw and cited."""
    cited = {citation.post_id for citation in answer.citations}
    seen = {candidate.passage.post_id for candidate in answer.sources} | cited
    sql = queries("traces")
    with database.transaction() as connection:
        connection.execute(
            sql["save"],
            {
                "id": answer.trace_id,
                "ask_post_id": ask_post_id,
                "question": safe(question),
                "zone": answer.zone.value,
                "route": answer.route.value,
                "language": answer.language,
                "answer": answer.text,
                "body": Jsonb(json_safe(body)),
                "ms": answer.timings_ms.get("total", 0.0),
            },
        )
        connection.execute(
            sql["save_posts"],
            {"id": answer.trace_id, "posts": sorted(p for p in seen if p), "cited": sorted(c for c in cited if c)},
        )


def add_posting(database: Database, trace_id: str, *, post_id: int, ms: float, calls: Sequence[Call]) -> None:
    """Note in a stored trace how its reply was posted: the ledger's state, and what the forum was asked meanwhile."""
    told = Jsonb([asdict(call) for call in calls])
    with database.connection() as connection:
        connection.execute(
            queries("traces")["add_posting"], {"id": trace_id, "post_id": post_id, "ms": round(ms, 3), "calls": told}
        )


def load_trace(database: Database, trace_id: str) -> dict[str, Any] | None:
    """The stored trace by its own id, or the newest one of an asking post; None when there is none."""
    post_id = int(trace_id) if trace_id.isascii() and trace_id.isdecimal() and len(trace_id) < 19 else None
    with database.connection() as connection:
        row = connection.execute(queries("traces")["load"], {"id": trace_id, "post_id": post_id}).fetchone()
    return None if row is None else dict(row[0])
