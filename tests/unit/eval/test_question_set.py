"""Question files: what is read, and what is refused by file and line."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from eval.question_set import read_questions
from forum.errors import UsageError


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "q.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_question_is_read_with_its_grades(tmp_path: Path) -> None:
    line = (
        '{"id": "p1", "title": "T", "body": "B", "asked_at": "2020-01-02T00:00:00Z", "topic_id": 0, "lang": "fr",'
        ' "relevant_topics": [5], "gold": [{"topic_id": 5, "post_number": 2, "grade": 3},'
        ' {"topic_id": 9, "post_number": 1, "grade": 1}]}\n\n'
    )
    (question,) = read_questions(_file(tmp_path, line)).questions
    assert question.grades == {5: 3}
    assert question.language == "fr"
    assert question.asked_at == datetime(2020, 1, 2, tzinfo=UTC)


def test_until_keeps_what_was_asked_before(tmp_path: Path) -> None:
    lines = "".join(f'{{"id": "{y}", "title": "t", "asked_at": "{y}-06-01T00:00:00Z"}}\n' for y in (2019, 2020))
    kept = read_questions(_file(tmp_path, lines)).until(datetime(2020, 1, 1, tzinfo=UTC))
    assert [one.id for one in kept.questions] == ["2019"]


@pytest.mark.parametrize("line", ["{", "[]", '{"title": "no id"}', '{"id": 1, "asked_at": "yesterday"}'])
def test_a_broken_line_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(UsageError, match=r"q\.jsonl, line 2"):
        read_questions(_file(tmp_path, f'{{"id": "a", "title": "t"}}\n{line}\n'))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.jsonl"):
        read_questions(tmp_path / "none.jsonl")
