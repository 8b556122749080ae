"""Reads a file of questions: one JSON object a line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from forum.errors import UsageError


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A question of a set; `relevant_topics` is empty when nothing in the forum answers it."""

    id: str
    title: str
    body: str
    topic_id: int = 0
    #: None: asked now, of the whole forum.
    asked_at: datetime | None = None
    relevant_topics: frozenset[int] = frozenset()
    #: Grade by topic, the best of its gold posts; 1 for each relevant topic where the set does not grade.
    grades: Mapping[int, int] = field(default_factory=dict)
    language: str = "en"
    kind: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionSet:
    """The questions of one file, with the digest that names it in results."""

    name: str
    sha256: str
    questions: tuple[Asked, ...]

    def until(self, end: datetime) -> QuestionSet:
        """Only the questions asked before `end`, or whenever."""
        kept = tuple(one for one in self.questions if one.asked_at is None or one.asked_at < end)
        return replace(self, questions=kept)


def read_questions(path: Path) -> QuestionSet:
    """Raises UsageError that names file, line and what is wrong with it."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}.") from error
    rows: list[Asked] = []
    for number, line in enumerate(content.decode("utf-8-sig", "replace").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            rows.append(_asked(json.loads(line)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"{path}, line {number}: not a question {{id, title, body, ...}}: {error!r}.") from error
    if not rows:
        raise UsageError(f"{path}: holds no questions.")
    return QuestionSet(name=path.name, sha256=hashlib.sha256(content).hexdigest(), questions=tuple(rows))


def _asked(row: Mapping[str, Any]) -> Asked:
    relevant = frozenset(int(one) for one in row.get("relevant_topics", ()))
    grades: dict[int, int] = dict.fromkeys(relevant, 1)
    for gold in row.get("gold", ()):
        topic = int(gold["topic_id"])
        if topic in relevant:
            grades[topic] = max(grades[topic], int(gold["grade"]))
    asked_at = row.get("asked_at")
    return Asked(
        id=str(row["id"]),
        title=str(row.get("title", "")),
        body=str(row.get("body", "")),
        topic_id=int(row.get("topic_id") or 0),
        asked_at=datetime.fromisoformat(asked_at) if asked_at else None,
        relevant_topics=relevant,
        grades=grades,
        language=str(row.get("lang", "en")),
        kind=str(row.get("kind", "")),
    )


def sample(questions: Sequence[Asked], limit: int | None) -> tuple[Asked, ...]:
    """The first `limit` questions; all without a limit."""
    return tuple(questions[:limit] if limit else questions)
