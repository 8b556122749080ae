"""`eval export-feedback`: what members said of replies and what went unanswered, as rows of a question file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from clients.composition import open_database
from clients.postgres.gap_store import GapStore


def export_feedback(
    out: Annotated[Path, typer.Argument(help="The question file to write, JSON Lines.")],
    days: Annotated[int, typer.Option(min=1, help="How far to look back, days.")] = 90,
) -> None:
    """Write liked, disliked and unanswered questions of the running installation; the file holds members' words.

    A question whose topic has an accepted answer by now names that topic as relevant: `eval retrieval` can score it
    once the answer is indexed. One that nobody has answered has none: `eval abstention` takes it as unanswerable.

    Example: python -m eval export-feedback feedback.jsonl --days 30
    """
    with open_database() as database:
        rows = [_row(row) for row in GapStore(database).feedback_rows(days=days)]
    out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    print(f"{len(rows)} questions written to {out}")


def _row(row: dict[str, Any]) -> dict[str, Any]:
    solved = row["accepted_post_id"] is not None and row["topic"] is not None
    return {
        "id": f"ask-{row['post_id']}",
        # 0: the asking topic itself may be the answer now.
        "topic_id": 0 if solved else row["topic_id"],
        "title": row["title"],
        "body": row["question"],
        "relevant_topics": [row["topic"]] if solved else [],
        "kind": "+".join(row["kinds"]) or "unanswered",
        "zone": row["zone"],
        "asked": row["asked_at"].isoformat(),
    }
