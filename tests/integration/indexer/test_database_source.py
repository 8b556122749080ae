"""A Discourse database read directly: a fixture built from its documented columns, in three generations."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg import sql

from clients.database_source import DatabaseSource
from clients.discourse_vectors import DiscourseVectors
from clients.postgres.backfill_store import BackfillStore
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Database
from forum.errors import ModelMismatch, UsageError
from indexer.adopt import adopt
from indexer.backfill import backfill

from .conftest import Letters

Stored = Callable[[], dict[int, str]]

SCHEMA = """
CREATE TABLE users (id int PRIMARY KEY, username text, username_lower text, admin bool DEFAULT false,
                    moderator bool DEFAULT false);
CREATE TABLE categories (id int PRIMARY KEY, name text, slug text, parent_category_id int, read_restricted bool);
CREATE TABLE category_groups (category_id int, group_id int, permission_type int);
CREATE TABLE topics (id int PRIMARY KEY, title text, slug text, category_id int, archetype text DEFAULT 'regular',
                     visible bool DEFAULT true, closed bool DEFAULT false, archived bool DEFAULT false,
                     deleted_at timestamp, created_at timestamp DEFAULT '2024-01-01', like_count int DEFAULT 0,
                     views int DEFAULT 0);
CREATE TABLE posts (id int PRIMARY KEY, topic_id int, post_number int, user_id int, raw text, cooked text,
                    created_at timestamp DEFAULT '2024-01-01', updated_at timestamp DEFAULT '2024-01-02',
                    reply_to_post_number int, like_count int DEFAULT 0, post_type int DEFAULT 1,
                    hidden bool DEFAULT false, user_deleted bool DEFAULT false, deleted_at timestamp,
                    version int DEFAULT 1);
CREATE TABLE tags (id int PRIMARY KEY, name text);
CREATE TABLE topic_tags (topic_id int, tag_id int);
CREATE TABLE tag_group_memberships (tag_id int, tag_group_id int);
CREATE TABLE tag_group_permissions (tag_group_id int, group_id int, permission_type int);
INSERT INTO users VALUES (1, 'anna', 'anna', true), (2, 'ben', 'ben', false);
INSERT INTO categories VALUES (1, 'Rain', 'rain', NULL, false), (2, 'Staff', 'staff', NULL, true);
INSERT INTO category_groups VALUES (2, 3, 1), (2, 41, 3);
INSERT INTO topics (id, title, slug, category_id) VALUES (1, 'Rain gauges', 'rain-gauges', 1),
    (2, 'SECRET staff', 's', 2), (5, 'Snow', 'snow', NULL);
INSERT INTO topics (id, title, slug, archetype) VALUES (3, 'SECRET message', 'm', 'private_message');
INSERT INTO topics (id, title, slug, visible) VALUES (4, 'SECRET unlisted', 'u', false);
INSERT INTO topics (id, title, slug, deleted_at) VALUES (6, 'SECRET gone', 'g', '2024-02-01');
INSERT INTO posts (id, topic_id, post_number, user_id, cooked) VALUES
    (1, 1, 1, 1, '<p>How to read a gauge?</p>'), (2, 1, 2, 2, '<p>From below.</p>'),
    (3, 2, 1, 1, '<p>SECRET staff</p>'), (4, 3, 1, 1, '<p>SECRET message</p>'), (5, 4, 1, 1, '<p>SECRET unlisted</p>'),
    (6, 5, 1, 2, '<p>Snow.</p>'), (7, 6, 1, 2, '<p>SECRET gone</p>'), (8, 1, 3, 99, '<p>SECRET by nobody</p>'),
    (9, 1, 4, NULL, '<p>SECRET by nobody</p>'), (15, 77, 1, 1, '<p>SECRET without a topic</p>');
INSERT INTO posts (id, topic_id, post_number, user_id, cooked, post_type) VALUES (10, 1, 5, 1, '<p>SECRET w</p>', 4);
INSERT INTO posts (id, topic_id, post_number, user_id, cooked, hidden) VALUES (11, 1, 6, 1, '<p>SECRET h</p>', true);
INSERT INTO posts (id, topic_id, post_number, user_id, cooked, deleted_at)
    VALUES (12, 1, 7, 1, '<p>SECRET d</p>', '2024-03-01');
INSERT INTO posts (id, topic_id, post_number, user_id, cooked, user_deleted)
    VALUES (13, 1, 8, 1, '<p>SECRET</p>', true);
INSERT INTO tags VALUES (1, 'hardware'), (2, 'secret-tag');
INSERT INTO topic_tags VALUES (1, 1), (1, 2);
INSERT INTO tag_group_memberships VALUES (2, 9);
INSERT INTO tag_group_permissions VALUES (9, 3, 1);
"""

SOLVED = {
    "a custom field": "CREATE TABLE topic_custom_fields (topic_id int, name text, value text);"
    "INSERT INTO topic_custom_fields VALUES (1, 'accepted_answer_post_id', '2'), (5, 'other', 'x')",
    "one answer a topic": "CREATE TABLE discourse_solved_solved_topics (id int, topic_id int, answer_post_id int);"
    "INSERT INTO discourse_solved_solved_topics VALUES (1, 1, 2)",
    "several answers a topic": "CREATE TABLE discourse_solved_solved_topics (id int, topic_id int);"
    "CREATE TABLE discourse_solved_topic_answers (id int, solved_topic_id int, answer_post_id int);"
    "INSERT INTO discourse_solved_solved_topics VALUES (7, 1);"
    "INSERT INTO discourse_solved_topic_answers VALUES (1, 7, 2), (2, 7, 1)",
}


@pytest.fixture
def discourse(postgres_url: str) -> Iterator[str]:
    name = "discourse_fixture"
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    url = postgres_url.replace("/threadcite?", f"/{name}?", 1)
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(SCHEMA)
        yield url
    finally:
        _drop(postgres_url, name)


def _drop(postgres_url: str, name: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def change(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)


def index(url: str, ingest: Ingest, database: Database) -> None:
    backfill(DatabaseSource(url), ingest, BackfillStore(database), batch_posts=1000)


def test_public_posts_come_in_and_nothing_else(
    discourse: str, ingest: Ingest, database: Database, stored: Stored
) -> None:
    index(discourse, ingest, database)
    assert list(stored()) == [1, 2, 6]
    with database.connection() as connection:
        for table in ("post", "topic", "term"):
            assert "secret" not in repr(connection.execute(f"SELECT * FROM {table}").fetchall()).lower()
        row = connection.execute(
            "SELECT title, category_name, tags, staff, username FROM public_post WHERE id = 1"
        ).fetchone()
    assert row == ("Rain gauges", "Rain", ["hardware"], True, "anna")


def test_the_database_is_opened_read_only(discourse: str) -> None:
    with (
        DatabaseSource(discourse)._connect() as connection,
        pytest.raises(psycopg.errors.ReadOnlySqlTransaction),
    ):
        connection.execute("DELETE FROM posts")


@pytest.mark.parametrize("generation", SOLVED)
def test_accepted_answers_are_found_in_every_generation_of_tables(
    generation: str, discourse: str, ingest: Ingest, database: Database
) -> None:
    change(discourse, SOLVED[generation])
    index(discourse, ingest, database)
    with database.connection() as connection:
        rows = connection.execute(
            "SELECT id, accepted_post_id FROM topic WHERE accepted_post_id IS NOT NULL"
        ).fetchall()
    assert rows == [(1, 2)]


def test_what_changed_without_a_webhook_is_found(
    discourse: str, ingest: Ingest, database: Database, stored: Stored, letters: Letters
) -> None:
    index(discourse, ingest, database)
    letters.calls.clear()
    change(
        discourse,
        "UPDATE posts SET hidden = true WHERE id = 1; UPDATE posts SET topic_id = 5, post_number = 2 WHERE id = 2;"
        "UPDATE categories SET read_restricted = false WHERE id = 2",
    )
    index(discourse, ingest, database)
    assert list(stored()) == [2, 3, 6]
    with database.connection() as connection:
        assert connection.execute("SELECT topic_id FROM public_post WHERE id = 2").fetchone() == (5,)
    change(
        discourse, "UPDATE categories SET read_restricted = true WHERE id IN (1, 2); UPDATE posts SET hidden = false"
    )
    index(discourse, ingest, database)
    assert list(stored()) == [2, 6]


def test_the_source_gives_the_same_row_for_the_same_post_as_the_api_would(discourse: str) -> None:
    found = {one.post.id: one for one, _ in DatabaseSource(discourse).posts()}
    assert list(found) == sorted(found, reverse=True), "newest first"
    one = found[2]
    assert one.post.updated_at.isoformat() == "2024-01-02T00:00:00+00:00"
    assert (one.topic.title, one.topic.visible, one.post.username) == ("Rain gauges", True, "ben")


def test_an_address_that_is_no_discourse_is_refused_in_one_line(database_url: str) -> None:
    with pytest.raises(UsageError, match="no table posts"):
        DatabaseSource(database_url).total()
    with pytest.raises(UsageError, match="cannot be reached"):
        DatabaseSource("postgresql://u:pass@127.0.0.1:9/x").total()
    assert "pass" not in DatabaseSource("postgresql://u:pass@127.0.0.1:9/x").name


def ai_vectors(url: str, ids: list[int], *, turned: bool = False) -> None:
    """Discourse AI's table, filled with our own embedder's vectors (or with those of another model)."""
    embedder = Letters(dimensions=26)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE EXTENSION IF NOT EXISTS vector;"
            "CREATE TABLE ai_posts_embeddings (post_id bigint, model_id bigint, strategy_id int, embeddings halfvec,"
            " created_at timestamp DEFAULT now(), updated_at timestamp DEFAULT now())"
        )
        texts = {1: "Rain gauges\n\nRain\n\nhardware, secret-tag\n\nHow to read a gauge?", 6: "Snow\n\nSnow."}
        for number in ids:
            vector = embedder.embed_query(texts.get(number, "x"))
            vector = vector[::-1] if turned else vector
            connection.execute(
                "INSERT INTO ai_posts_embeddings VALUES (%s, 1, 1, %s)",
                (number, "[" + ",".join(map(str, vector)) + "]"),
            )


def test_the_vectors_of_discourse_ai_are_taken_over_for_public_posts_only(
    discourse: str, ingest: Ingest, database: Database, letters: Letters
) -> None:
    backfill(DatabaseSource(discourse), ingest, BackfillStore(database), batch_posts=1000, vectors=False)
    ai_vectors(discourse, [1, 6])
    change(
        discourse,
        "INSERT INTO ai_posts_embeddings SELECT 3, 1, 1, embeddings FROM ai_posts_embeddings WHERE post_id = 1",
    )
    done = adopt(DiscourseVectors(discourse, dimensions=26), ingest, letters)
    assert done.vectors == 2
    assert done.cosine > 0.999
    with database.connection() as connection:
        assert connection.execute("SELECT post_id FROM embedding ORDER BY 1").fetchall() == [(1,), (6,)]


def test_vectors_of_another_model_are_refused_with_the_figure(
    discourse: str, ingest: Ingest, database: Database, letters: Letters
) -> None:
    backfill(DatabaseSource(discourse), ingest, BackfillStore(database), batch_posts=1000, vectors=False)
    ai_vectors(discourse, [1, 6], turned=True)
    with pytest.raises(ModelMismatch, match=r"mean cosine 0\.\d+ over 2 posts"):
        adopt(DiscourseVectors(discourse, dimensions=26), ingest, letters)
    with database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM embedding").fetchone() == (0,)


def test_a_forum_without_discourse_ai_is_told_so(discourse: str, ingest: Ingest, letters: Letters) -> None:
    with pytest.raises(UsageError, match="no ai_posts_embeddings"):
        adopt(DiscourseVectors(discourse, dimensions=26), ingest, letters)
