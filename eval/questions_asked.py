"""A question file's rows as the questions that members ask, with their conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from forum.types import Question, Turn

_BOT = "threadcite"


def questions_of(file: Path) -> Iterator[tuple[Question, dict[str, Any]]]:
    """Each question beside its row. Raises ValueError or KeyError for a broken line."""
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.strip():
            continue
        row = json.loads(line)
        at = row.get("asked_at")
        yield (
            Question(
                text=row.get("text") or row.get("body") or row["title"],
                title=row.get("title", "") if row.get("body") else "",
                asked_at=datetime.fromisoformat(at) if at else None,
                conversation=tuple(
                    Turn(author=turn["user"], text=turn["raw"], is_bot=turn["user"] == _BOT)
                    for turn in row.get("conversation", ())
                ),
            ),
            row,
        )
