"""With many stored answers no page scans the traces: each query of the list goes by an index."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from clients.postgres.pool import Database
from clients.postgres.queries import queries

LIST: dict[str, Any] = {"zone": None, "route": None, "words": None, "at": None, "id": None, "limit": 51}


@pytest.fixture
def many(database: Database) -> Database:
    with database.connection() as connection:
        connection.execute(
            "INSERT INTO trace (id, ask_post_id, question, zone, route, body, created_at)"
            " SELECT md5(n::text), n, 'word' || n, (ARRAY['ok', 'weak', 'abstain'])[1 + n % 3], 'answered',"
            ' \'{"timings_ms": {"total": 3}, "degraded": []}\', now() - n * interval \'60 seconds\''
            " FROM generate_series(1, 20000) n"
        )
        connection.execute(
            "INSERT INTO ask (post_id, topic_id, post_number, state, trace_id, form, asked_at, created_at)"
            " SELECT n, n, 2, CASE WHEN n % 500 = 0 THEN 'failed' ELSE 'posted' END, md5(n::text), now(), now(),"
            " now() - n * interval '60 seconds' FROM generate_series(1, 20000) n"
        )
        connection.execute("ANALYZE trace, ask")
    return database


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("answers", LIST),
        ("answers", {**LIST, "zone": "weak"}),
        ("answers", {**LIST, "route": "answered"}),
        ("answers", {**LIST, "words": "word77"}),
        ("answers", {**LIST, "at": datetime(2026, 1, 1, tzinfo=UTC), "id": "f"}),
        ("answers_of_state", {**LIST, "state": "failed"}),
        ("answers_of_state", {**LIST, "state": "posted"}),
        ("answers_of_state", {**LIST, "state": "posted", "zone": "weak"}),
        ("answers_of_state", {**LIST, "state": "failed", "at": datetime(2026, 1, 1, tzinfo=UTC), "id": 9}),
        ("answer", {"id": "x"}),
        ("stages", {"days": 30}),
        ("by_part", {"days": 30, "step": 86_400}),
        ("by_zone_and_route", {"days": 30, "step": 86_400}),
    ],
)
def test_the_query_goes_by_an_index(many: Database, name: str, values: dict[str, Any]) -> None:
    with many.connection() as connection:
        rows = connection.execute("EXPLAIN " + queries("pages")[name], values).fetchall()
    plan = "\n".join(row[0] for row in rows)
    assert "Seq Scan on trace" not in plan, plan
    assert "Seq Scan on ask" not in plan, plan


def test_answers_are_counted_as_they_are_stored(many: Database) -> None:
    with many.connection() as connection:
        row = connection.execute("SELECT sum(n) FROM answer_count").fetchone()
    assert row == (20_000,)
