"""The posting lists of the keyword channel: always what the posts say, whatever was written in which order."""

from __future__ import annotations

from datetime import timedelta

import pytest

from clients.postgres.index import PostgresIndex
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Database
from forum.types import Scope
from indexer.verify import verify
from tests.integration.retrieval.conftest import START, Write

_POSTS = [
    (1, "Tea", "black tea and green tea with milk"),
    (2, "Coffee", "black coffee without milk"),
    (3, "Water", "still water"),
]


def _wrong(database: Database, ingest: Ingest) -> int:
    return int(verify(database, ingest.model.id, opened=[])["wrong_postings"])


def _found(index: PostgresIndex, question: str) -> list[int]:
    return [hit.post_id for hit in index.keyword(question, limit=9, scope=Scope())]


def test_a_new_post_is_found_on_commit(index: PostgresIndex, write: Write) -> None:
    write(_POSTS[:1])
    assert _found(index, "coffee") == []
    write(_POSTS)
    assert _found(index, "coffee") == [2]


def test_lists_hold_what_the_posts_hold(database: Database, ingest: Ingest, write: Write) -> None:
    write(_POSTS)
    write([(1, "Tea", "green tea alone"), *_POSTS[1:]])
    write([*_POSTS, (4, "Milk", "milk of oats and milk of rice")])
    assert _wrong(database, ingest) == 0


def test_a_removed_post_is_in_no_list(database: Database, ingest: Ingest, index: PostgresIndex, write: Write) -> None:
    write(_POSTS)
    ingest.destroy_posts([1], at=START + timedelta(days=400))
    assert _found(index, "tea milk") == [2]
    assert _wrong(database, ingest) == 0
    with database.connection() as connection:
        assert connection.execute("SELECT 1 FROM posting WHERE term = 'tea'").fetchone() is None


def test_posts_of_different_blocks_of_ids_are_found_together(database: Database, index: PostgresIndex) -> None:
    with database.connection() as connection:
        connection.execute(
            "INSERT INTO topic (id, title, created_at) VALUES (1, 'x', now());"
            "INSERT INTO post (id, topic_id, post_number, created_at, updated_at, text, terms, doc_length)"
            " SELECT id, 1, id % 1000, now(), now(), 'x', ('oat:1 n' || id || ':1')::tsvector, 2"
            " FROM unnest(ARRAY[5, 8191, 8192, 9000000000]) id;"
            "INSERT INTO posting SELECT 'oat', id >> 13, string_agg(posting_entry(id, 2, 1), '') FROM post GROUP BY 2;"
            "INSERT INTO term VALUES ('oat', 4); UPDATE corpus SET documents = 20, total_length = 40"
        )
    assert _found(index, "oats") == [5, 8191, 8192, 9_000_000_000]


def test_the_list_is_full_however_few_the_scope_lets_through(index: PostgresIndex, write: Write) -> None:
    write([(topic, f"Topic {topic}", "oats with milk") for topic in range(1, 100)])
    late = Scope(exclude_topic_ids=frozenset(range(1, 95)))
    assert [hit.topic_id for hit in index.keyword("oats", limit=3, scope=late)] == [95, 96, 97]


def test_terms_whose_lists_are_too_long_are_counted_in_the_best_posts(
    index: PostgresIndex, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write([*_POSTS, (4, "Milk", "milk milk tea and green leaves")])
    whole = index.keyword("green tea with milk", limit=9, scope=Scope())
    monkeypatch.setattr("clients.postgres.keywords.KEYWORD_POSTINGS", 2)
    some = index.keyword("green tea with milk", limit=9, scope=Scope())
    assert [(hit.post_id, round(hit.score, 5)) for hit in some] == [
        (hit.post_id, round(hit.score, 5)) for hit in whole if hit.post_id in {1, 4}
    ]
