"""An opened category's posts are seen from threads all of whose readers may read them, and from nowhere else."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from clients.postgres.index import PostgresIndex
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Database
from clients.wordllama_embedder import WordLlamaEmbedder
from forum.config import Config
from forum.types import Category, Post, Scope, SourcePost, Thread, Topic
from indexer.verify import verify
from tests.integration.retrieval.conftest import START

TEAM, BETA, STRANGERS = 41, 42, 43
OPENED, OTHER_OPENED, PUBLIC = 2, 5, 1
WORDS = "The unreleased gauge tips at four millimetres"
#: Category -> the groups that read it; None: everyone.
READERS: dict[int, set[int] | None] = {
    PUBLIC: None,
    OPENED: {TEAM, BETA},
    3: {BETA},
    4: {TEAM, BETA, STRANGERS},
    OTHER_OPENED: {TEAM},
    6: set(),
}


def described(readers: dict[int, set[int] | None]) -> list[Category]:
    return [
        Category(id=one, name=f"C{one}", read_restricted=groups is not None, group_ids=frozenset(groups or ()))
        for one, groups in readers.items()
    ]


def told(number: int, category: int, text: str, *, topic: int | None = None) -> SourcePost:
    when = START + timedelta(hours=number)
    return SourcePost(
        post=Post(
            id=number,
            topic_id=topic or number,
            post_number=number,
            cooked=f"<p>{text}</p>",
            created_at=when,
            updated_at=when,
            user_id=1,
            username="ann",
        ),
        topic=Topic(id=topic or number, title="The next gauge", category_id=category, created_at=START),
    )


@pytest.fixture
def ingest(database: Database, embedder: WordLlamaEmbedder) -> Ingest:
    made = Ingest(database, embedder, Config.parse({"indexer": {"opened_category_ids": [OPENED, OTHER_OPENED]}}))
    made.put_categories(described(READERS), at=START)
    made.ingest([told(1, OPENED, WORDS), told(2, OPENED, f"{WORDS}, I have seen it", topic=1)])
    made.ingest([told(3, 3, WORDS), told(4, PUBLIC, "Rain gauges of the shop tip at two millimetres")])
    return made


def seen(index: PostgresIndex, embedder: WordLlamaEmbedder, scope: Scope) -> dict[str, set[int]]:
    """The posts of closed categories that each channel gives from this scope."""
    vector = embedder.embed_query(WORDS)
    found = {
        "posts": {hit.post_id for hit in index.nearest(vector, limit=9, scope=scope)},
        "topics": {hit.post_id for hit in index.nearest_topics(vector, limit=9, scope=scope)},
        "keyword": {hit.post_id for hit in index.keyword("unreleased gauge", limit=9, scope=scope)},
        "passages": set(index.passages([1, 2, 3, 4], scope=scope)),
        "matches": set(index.matches([1, 2, 3, 4], text=WORDS, vector=vector, scope=scope)),
        "neighbours": {one.post_id for one in index.neighbours([1], radius=3, scope=scope)[1]},
    }
    return {name: ids - {4} for name, ids in found.items()}


def thread(category: int, *, topic: int = 99, opened: tuple[int, ...] = (OPENED, OTHER_OPENED)) -> Scope:
    return Scope(thread=Thread(topic_id=topic, category_id=category, opened_category_ids=frozenset(opened)))


@pytest.mark.parametrize("category", [OPENED, 3, OTHER_OPENED])
def test_a_thread_whose_readers_are_all_among_the_posts_readers_sees_them(
    category: int, ingest: Ingest, index: PostgresIndex, embedder: WordLlamaEmbedder
) -> None:
    found = seen(index, embedder, thread(category))
    assert all(found.values())
    assert set().union(*found.values()) == {1, 2}


ELSEWHERE = {
    "no thread": Scope(),
    "a public thread": thread(PUBLIC),
    "one group more": thread(4),
    "groups unknown": thread(6),
    "category unknown": thread(77),
    "none opened": thread(3, opened=()),
    "another opened": thread(3, opened=(OTHER_OPENED,)),
}


@pytest.mark.parametrize("scope", ELSEWHERE.values(), ids=ELSEWHERE)
def test_from_anywhere_else_nobody_sees_them(
    scope: Scope, ingest: Ingest, index: PostgresIndex, embedder: WordLlamaEmbedder
) -> None:
    assert set().union(*seen(index, embedder, scope).values()) == set()


def test_where_the_topic_stands_now_counts_not_where_it_was_asked(
    ingest: Ingest, index: PostgresIndex, embedder: WordLlamaEmbedder
) -> None:
    scope = thread(3, topic=4)
    assert seen(index, embedder, scope)["posts"] == set()


def test_a_wider_thread_sees_them_no_more_from_that_moment(
    ingest: Ingest, index: PostgresIndex, embedder: WordLlamaEmbedder
) -> None:
    ingest.put_categories(described({**READERS, 3: {BETA, STRANGERS}}), at=START + timedelta(days=1))
    assert set().union(*seen(index, embedder, thread(3)).values()) == set()


def test_reading_for_a_thread_leaves_no_trace_on_the_connection(ingest: Ingest, database: Database) -> None:
    query = "SELECT count(*) FROM public_post WHERE id IN (1, 2)"
    with database.reading(thread(3).thread) as connection:
        assert connection.execute(query).fetchone() == (2,)
    for _ in range(10):
        with database.connection() as connection:
            assert connection.execute(query).fetchone() == (0,)


def test_verify_counts_a_text_of_a_category_that_is_not_opened_any_more(ingest: Ingest, database: Database) -> None:
    model = ingest.model.id
    assert verify(database, model, opened=[OPENED, OTHER_OPENED])["texts_not_public"] == 0
    assert verify(database, model, opened=[OTHER_OPENED])["texts_not_public"] == 2


def test_a_category_that_is_opened_no_more_leaves_the_index(
    ingest: Ingest, database: Database, embedder: WordLlamaEmbedder, index: PostgresIndex
) -> None:
    later = Ingest(database, embedder, Config())
    later.put_categories(described(READERS), at=datetime.now(START.tzinfo))
    assert set().union(*seen(index, embedder, thread(3)).values()) == set()
    with database.connection() as connection:
        assert connection.execute("SELECT count(text) FROM post WHERE id IN (1, 2)").fetchone() == (0,)
