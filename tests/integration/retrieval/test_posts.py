"""The posts channel on a real Postgres: never fewer rows than exist, whatever was deleted, filtered or hidden."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from pgvector import HalfVector
from psycopg.sql import SQL, Identifier

from clients.postgres.arguments import scope_arguments
from clients.postgres.index import SMALL, PostgresIndex
from clients.postgres.pool import Database
from clients.wordllama_embedder import WordLlamaEmbedder
from forum.errors import ModelMismatch
from forum.types import Scope
from tests.integration.retrieval.conftest import START, Write

_MODEL = "test/random"
_DIMENSIONS = 32


def _fill(database: Database, near: int, far: int, *, kind: str) -> np.ndarray:
    """`near` posts close to the question and `far` posts elsewhere, one topic each, with an HNSW index."""
    rng = np.random.default_rng(1)
    question = np.zeros(_DIMENSIONS, dtype=np.float32)
    question[0] = 1.0
    vectors = rng.normal(size=(near + far, _DIMENSIONS)).astype(np.float32)
    vectors[:near] = question + 0.05 * vectors[:near]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    expression = (
        f"(binary_quantize(vector)::bit({_DIMENSIONS})) bit_hamming_ops"
        if kind == "bit"
        else f"(vector::halfvec({_DIMENSIONS})) halfvec_cosine_ops"
    )
    with database.transaction() as connection:
        connection.execute(
            "INSERT INTO topic (id, title, created_at) SELECT n, 'topic ' || n, %s FROM generate_series(1, %s) n",
            (START, near + far),
        )
        connection.execute(
            "INSERT INTO post (id, topic_id, post_number, created_at, updated_at, text, doc_length)"
            " SELECT n, n, 1, %s::timestamptz + n * interval '1 minute', %s, 'text', 1 FROM generate_series(1, %s) n",
            (START, START, near + far),
        )
        connection.execute(
            "INSERT INTO embedding_model (name, dimensions, active, index_kind) VALUES (%s, %s, true, %s)",
            (_MODEL, _DIMENSIONS, kind),
        )
        with (
            connection.cursor() as cursor,
            cursor.copy("COPY embedding (post_id, model_id, content_hash, vector) FROM STDIN (FORMAT BINARY)") as copy,
        ):
            copy.set_types(["int8", "int2", "bytea", "halfvec"])
            for at, vector in enumerate(vectors, start=1):
                copy.write_row((at, 1, b"x", HalfVector(vector)))
        connection.execute(f"CREATE INDEX embedding_hnsw_1 ON embedding USING hnsw ({expression}) WHERE model_id = 1")
        connection.execute("ALTER TABLE embedding SET (autovacuum_enabled = false)")
    with database.connection() as connection:
        connection.execute("ANALYZE")
    return question


@pytest.mark.parametrize("kind", ["halfvec", "bit"])
def test_deleting_the_nearest_thousands_still_fills_the_list(database: Database, kind: str) -> None:
    question = _fill(database, 4_000, SMALL, kind=kind)
    with database.connection() as connection:
        connection.execute("UPDATE post SET deleted_at = now() WHERE id <= 4000")
    hits = PostgresIndex(database, embedder=_MODEL).nearest(question, limit=25, scope=Scope())
    assert len(hits) == 25
    assert all(hit.post_id > 4_000 for hit in hits)


def test_when_the_graph_comes_up_short_an_exact_scan_answers_and_is_counted(database: Database) -> None:
    question = _fill(database, 4_000, SMALL, kind="halfvec")
    with database.connection() as connection:
        connection.execute("UPDATE post SET deleted_at = now() WHERE id <= 4000")
        # As 30,000 deletions are to the default of 20,000.
        connection.execute(
            SQL("ALTER DATABASE {} SET hnsw.max_scan_tuples = 1000").format(Identifier(connection.info.dbname))
        )
    with Database(database.url) as later:
        index = PostgresIndex(later, embedder=_MODEL)
        assert len(index.nearest(question, limit=100, scope=Scope())) == 100
        assert index.fallbacks == 1


@pytest.mark.parametrize("kind", ["halfvec", "bit"])
def test_the_plan_walks_the_graph(database: Database, kind: str) -> None:
    question = _fill(database, 100, 2 * SMALL, kind=kind)
    index = PostgresIndex(database, embedder=_MODEL)
    for _ in range(8):
        hits = index.nearest(question, limit=25, scope=Scope())
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert index.fallbacks == 0
    with database.transaction() as connection:
        plan = connection.execute(
            SQL("EXPLAIN ") + index._query(f"nearest_{kind}", index._active(connection, question)),
            {**scope_arguments(Scope()), "vector": HalfVector(question), "limit": 100, "candidates": 400},
        ).fetchall()
    assert any("embedding_hnsw_1" in line for (line,) in plan), plan


@pytest.mark.parametrize("limit", [1, 25, 40])
def test_a_small_index_gives_all_that_there_is(database: Database, limit: int) -> None:
    question = _fill(database, 10, 20, kind="none")
    hits = PostgresIndex(database, embedder=_MODEL).nearest(question, limit=limit, scope=Scope())
    assert len(hits) == min(limit, 30)


def test_nothing_later_than_the_question_is_found(database: Database) -> None:
    question = _fill(database, 50, 0, kind="none")
    scope = Scope(before=START + timedelta(minutes=10))
    hits = PostgresIndex(database, embedder=_MODEL).nearest(question, limit=25, scope=scope)
    assert {hit.post_id for hit in hits} == set(range(1, 10))


def test_excluded_posts_and_topics_stay_out(database: Database) -> None:
    question = _fill(database, 10, 0, kind="none")
    scope = Scope(exclude_post_ids=frozenset((1,)), exclude_topic_ids=frozenset((2,)))
    hits = PostgresIndex(database, embedder=_MODEL).nearest(question, limit=25, scope=scope)
    assert {hit.post_id for hit in hits} == set(range(3, 11))


def test_another_models_vectors_are_never_compared(database: Database) -> None:
    question = _fill(database, 10, 0, kind="none")
    with pytest.raises(ModelMismatch, match="test/random"):
        PostgresIndex(database, embedder="another/model").nearest(question, limit=5, scope=Scope())


def test_an_index_without_vectors_says_so(index: PostgresIndex, embedder: WordLlamaEmbedder) -> None:
    with pytest.raises(ModelMismatch, match="backfill"):
        index.nearest(embedder.embed_query("x"), limit=5, scope=Scope())


def test_what_is_not_public_is_in_no_answer_of_the_index(
    index: PostgresIndex, embedder: WordLlamaEmbedder, write: Write, database: Database
) -> None:
    write([(1, "Secret tea", "the recipe of the secret tea"), (2, "Coffee", "how to brew coffee at home")])
    with database.connection() as connection:
        connection.execute("UPDATE post SET hidden = true WHERE id = 1")
    vector = embedder.embed_query("secret tea recipe")
    assert [hit.post_id for hit in index.nearest(vector, limit=9, scope=Scope())] == [2]
    assert index.keyword("secret tea recipe", limit=9, scope=Scope()) == []
    assert all(hit.post_id != 1 for hit in index.nearest_topics(vector, limit=9, scope=Scope()))
    assert set(index.passages([1, 2], scope=Scope())) == {2}
    assert set(index.matches([1, 2], text="tea", vector=vector, scope=Scope())) == {2}
