"""Several models side by side, an index that checks itself, and forgetting."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from psycopg.types.json import Jsonb

from clients.discourse_json import read_source_post
from clients.postgres.ingest import Ingest
from clients.postgres.model_store import ModelStore
from clients.postgres.pool import Database
from forum.config import Config
from forum.errors import UsageError
from indexer.forget import forget
from indexer.verify import repair, verify

from .conftest import Letters, check_statistics, record

Stored = Callable[[], dict[int, str]]


def fill(ingest: Ingest, count: int = 20) -> None:
    ingest.ingest([read_source_post(record(n, f"word{n} rain", user_id=n % 3 + 1)) for n in range(1, count + 1)])


def active(database: Database) -> list[str]:
    return [one.name for one in ModelStore(database).models() if one.active]


def test_the_first_model_is_active_and_a_second_fills_beside_it(database: Database, ingest: Ingest) -> None:
    fill(ingest)
    other = Ingest(database, Letters(name="test/other", dimensions=13), Config())
    assert other.fill() == 20
    models = {one.name: (one.active, one.vectors) for one in ModelStore(database).models()}
    assert models == {"test/letters": (True, 20), "test/other": (False, 20)}


def test_a_switch_can_be_taken_back_and_never_mixes_vectors(database: Database, ingest: Ingest) -> None:
    fill(ingest)
    Ingest(database, Letters(name="test/other", dimensions=13), Config()).fill()
    models = ModelStore(database)
    models.switch("test/other")
    assert active(database) == ["test/other"]
    models.switch("test/letters")
    assert active(database) == ["test/letters"]
    with database.connection() as connection:
        rows = connection.execute(
            "SELECT DISTINCT m.name, vector_dims(e.vector::vector) FROM embedding e"
            " JOIN embedding_model m ON m.id = e.model_id ORDER BY 1"
        ).fetchall()
    assert rows == [("test/letters", 26), ("test/other", 13)]


def test_a_model_without_vectors_cannot_be_switched_to_and_an_active_one_not_dropped(
    database: Database, ingest: Ingest
) -> None:
    fill(ingest)
    _ = Ingest(database, Letters(name="test/other", dimensions=13), Config()).model
    with pytest.raises(UsageError, match="has no vectors yet"):
        ModelStore(database).switch("test/other")
    with pytest.raises(UsageError, match="active model"):
        ModelStore(database).drop("test/letters")
    with pytest.raises(UsageError, match="it has test/letters, test/other"):
        ModelStore(database).switch("test/absent")


def test_the_vectors_of_a_dropped_model_are_gone_and_the_others_stay(database: Database, ingest: Ingest) -> None:
    fill(ingest)
    Ingest(database, Letters(name="test/other", dimensions=13), Config()).fill()
    models = ModelStore(database)
    models.switch("test/other")
    assert models.drop("test/letters") == 20
    assert [(one.name, one.vectors) for one in models.models()] == [("test/other", 20)]


def test_an_edit_while_a_second_model_fills_leaves_no_old_vector_behind(database: Database, ingest: Ingest) -> None:
    fill(ingest, 3)
    other = Ingest(database, Letters(name="test/other", dimensions=13), Config())
    other.fill()
    ingest.ingest([read_source_post(record(1, "edited words", version=2, updated_at="2025-01-01T00:00:00Z"))])
    assert other.fill() == 1
    assert verify(database, other.model.id, opened=[])["ok"]
    assert verify(database, ingest.model.id, opened=[])["ok"]


@pytest.mark.parametrize(("dimensions", "kind"), [(26, "halfvec"), (512, "bit")])
def test_an_index_is_built_over_the_kind_that_suits_the_dimensions(
    dimensions: int, kind: str, database: Database
) -> None:
    ingest = Ingest(database, Letters(dimensions=dimensions), Config())
    fill(ingest)
    assert ingest.models.build_index(ingest.model) == "none"
    assert ingest.models.build_index(ingest.model, at_least=10) == kind
    with database.connection() as connection:
        definition = connection.execute(
            "SELECT pg_get_indexdef(to_regclass(%s))", (f"embedding_hnsw_{ingest.model.id}",)
        ).fetchone()
    assert definition is not None
    assert f"WHERE (model_id = {ingest.model.id})" in definition[0]


def test_verify_finds_what_is_wrong_and_repair_mends_it(database: Database, ingest: Ingest) -> None:
    fill(ingest)
    assert verify(database, ingest.model.id, opened=[])["ok"]
    with database.connection() as connection:
        connection.execute("UPDATE term SET df = df + 1 WHERE term = 'rain'")
        connection.execute("UPDATE corpus SET total_length = total_length + 5")
        connection.execute("DELETE FROM embedding WHERE post_id = 3")
        connection.execute("UPDATE post SET hidden = true WHERE id = 4")
        connection.execute("DELETE FROM topic_embedding WHERE topic_id = 5")
    found = verify(database, ingest.model.id, opened=[])
    assert {name: found[name] for name in ("wrong_terms", "wrong_totals", "without_vector", "texts_not_public")} == {
        "wrong_terms": 1,
        "wrong_totals": 5,
        "without_vector": 1,
        "texts_not_public": 1,
    }
    assert found["topics_without_vector"] == 1
    repair(database, ingest, opened=[])
    assert verify(database, ingest.model.id, opened=[])["ok"]
    check_statistics(database)


def test_forgetting_a_user_takes_posts_words_questions_and_traces(
    database: Database, ingest: Ingest, stored: Stored
) -> None:
    fill(ingest)
    with database.connection() as connection:
        connection.execute(
            "INSERT INTO ask (post_id, topic_id, post_number, user_id, username, question, form, asked_at)"
            " VALUES (99, 9, 2, 1, 'anna', 'my secret question', now(), now())"
        )
        connection.execute(
            "INSERT INTO trace (id, question, zone, route, answer, body) VALUES ('t1', 'q', 'ok', 'answered', %s, %s)",
            ("word3 says so", Jsonb({"answer": "word3 says so", "sources": [{"post_id": 3}], "citations": []})),
        )
        connection.execute("INSERT INTO trace_post (trace_id, post_id, cited) VALUES ('t1', 3, true)")
    gone = forget("user", 1, ingest, database)
    assert (gone.posts, gone.vectors, gone.questions) == (6, 6, 1)
    assert all(number % 3 + 1 != 1 for number in stored())
    with database.connection() as connection:
        traces = connection.execute("SELECT answer, body::text FROM trace").fetchall()
        asks = connection.execute("SELECT question, username FROM ask").fetchall()
        words = connection.execute("SELECT term FROM term WHERE term IN ('word3', 'word6')").fetchall()
    assert "word3" not in repr(traces)
    assert (asks, words) == ([("", "")], [])
    check_statistics(database)
    ingest.ingest([read_source_post(record(3, "word3", version=5))], observed_at=datetime.now(UTC))
    assert 3 not in stored()


def test_forgetting_a_topic_takes_its_title_too(database: Database, ingest: Ingest, stored: Stored) -> None:
    fill(ingest)
    gone = forget("topic", 7, ingest, database)
    assert gone.posts == 1
    assert 7 not in stored()
    with database.connection() as connection:
        assert connection.execute("SELECT title FROM topic WHERE id = 7").fetchone() == ("",)
