"""Real questions as question files, and live answers against their shadows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from clients.postgres.pool import Database
from eval.__main__ import app
from eval.question_set import read_questions
from eval.traffic import compared


@pytest.fixture
def asked(database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Database:
    monkeypatch.setenv("THREADCITE_DATABASE_URL", database_url)
    with database.connection() as connection:
        connection.execute(
            "INSERT INTO ask (post_id, topic_id, post_number, question, outcome, state, form, asked_at, reply_post_id,"
            " trace_id) VALUES (1, 11, 1, 'Which tyres?', 'abstained', 'abstained', now(), now(), NULL, NULL),"
            " (2, 12, 1, 'How does it tip?', 'posted', 'posted', now(), now(), 50, 'live'),"
            " (3, 13, 1, 'Nobody said a word about this', 'posted', 'posted', now(), now(), 51, NULL)"
        )
        connection.execute("INSERT INTO topic (id, accepted_post_id) VALUES (12, 120)")
        connection.execute(
            "INSERT INTO feedback (reply_post_id, ask_post_id, kind, user_id) VALUES (50, 2, 'dislike', 9)"
        )
        connection.execute(
            "INSERT INTO trace (id, zone, route, body, ms) VALUES ('live', 'ok', 'answered', '{}', 100),"
            " ('other', 'abstain', 'abstained', '{}', 150)"
        )
        connection.execute("INSERT INTO trace_post VALUES ('live', 7, true), ('live', 8, true), ('other', 7, true)")
        connection.execute(
            "INSERT INTO shadow (ask_post_id, live_trace_id, trace_id, flags)"
            " VALUES (2, 'live', 'other', '{\"corrective\": true}')"
        )
    return database


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    return done.output


def test_disliked_and_unanswered_questions_become_rows(asked: Database, tmp_path: Path) -> None:
    file = tmp_path / "feedback.jsonl"
    run("export-feedback", str(file))
    rows = {row.id: row for row in read_questions(file).questions}
    assert set(rows) == {"ask-1", "ask-2"}
    assert (rows["ask-1"].kind, rows["ask-1"].relevant_topics) == ("unanswered", frozenset())
    assert (rows["ask-2"].kind, rows["ask-2"].relevant_topics) == ("dislike", frozenset({12}))


def test_live_is_compared_with_its_shadow(asked: Database) -> None:
    report = json.loads(run("compare", "live", "shadow", "--json"))
    assert report["n"] == 1
    assert report["zones"] == {"ok>abstain": 1}
    assert report["answered"] == -1
    assert report["citations_kept"] == 0.5
    assert report["ms"] == 50
    assert report["disliked_now_abstained"] == 1


def test_without_shadows_there_is_nothing_to_compare() -> None:
    assert compared([]) == {"n": 0}
