"""What no webhook told: every kind of drift between index and forum is counted, mended, and found no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pytest

from clients.discourse_json import read_source_post
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Database
from forum.errors import RemoteRefused, SourceError
from forum.types import Category, SourcePost, Topic
from indexer.forget import forget
from indexer.reconcile import Drift, reconcile

from .conftest import check_statistics, record

Stored = Callable[[], dict[int, str]]


@dataclass
class Forum:
    """A forum in memory that is both crawled and asked; only public posts are listed, as by Discourse."""

    posts_by_id: dict[int, SourcePost] = field(default_factory=dict)
    closed: dict[int, bool] = field(default_factory=lambda: {5: False})
    readers: frozenset[int] = frozenset()
    topics_by_id: dict[int, Topic] = field(default_factory=dict)
    skipped: Any = None
    name = "memory"
    declared_public = False
    complete_topics = False
    observes = True

    def add(self, number: int, words: str = "rain", **facts: Any) -> None:
        one = read_source_post(record(number, words, category_id=5, **facts))
        self.posts_by_id[number] = one
        self.topics_by_id.setdefault(one.topic.id, one.topic)

    def change(self, number: int, **facts: Any) -> None:
        one = self.posts_by_id[number]
        self.posts_by_id[number] = replace(one, post=replace(one.post, **facts))

    def total(self) -> int | None:
        return None

    def categories(self) -> Sequence[Category]:
        return [
            Category(id=one, name="C", read_restricted=closed, group_ids=self.readers)
            for one, closed in self.closed.items()
        ]

    def topics(self) -> Sequence[Topic]:
        return [one for one in self.topics_by_id.values() if one.visible]

    def posts(self, *, after: str | None = None) -> Iterator[tuple[SourcePost, str]]:
        for number in sorted(self.posts_by_id, reverse=True):
            one = self.posts_by_id[number]
            if not one.post.hidden and self.topic(one.topic.id).visible and not self.closed[5]:
                yield one, str(number)

    def post(self, post_id: int) -> SourcePost:
        if post_id not in self.posts_by_id:
            raise RemoteRefused("gone", status=404)
        return self.posts_by_id[post_id]

    def topic(self, topic_id: int) -> Topic:
        return self.topics_by_id[topic_id]


@pytest.fixture
def forum() -> Forum:
    forum = Forum()
    for number in range(1, 9):
        forum.add(number, f"rain number{number}")
    return forum


@pytest.fixture
def run(forum: Forum, ingest: Ingest, database: Database) -> Callable[..., Drift]:
    def go(**keys: Any) -> Drift:
        return reconcile(forum, ingest, database, ask=forum, **keys)

    return go


def drift(found: Drift) -> dict[str, int]:
    return {kind: count for kind, count in found.kinds.items() if count}


def test_an_index_that_is_the_forum_has_no_drift(run: Callable[..., Drift], stored: Stored) -> None:
    assert drift(run()) == {"missing": 8}
    assert drift(run()) == {}
    assert len(stored()) == 8


CHANGES: dict[str, tuple[Callable[[Forum], None], dict[str, int], set[int]]] = {
    "a post that never came": (lambda f: f.add(9), {"missing": 1}, set(range(1, 10))),
    "an edit that never came": (
        lambda f: f.change(3, cooked="<p>snow</p>", version=2, updated_at=datetime.fromisoformat("2025-01-01T00:00Z")),
        {"stale": 1},
        set(range(1, 9)),
    ),
    "a deleted post": (lambda f: f.posts_by_id.pop(3) and None, {"gone": 1}, {1, 2, 4, 5, 6, 7, 8}),
    "a hidden post": (lambda f: f.change(3, hidden=True), {"gone": 1}, {1, 2, 4, 5, 6, 7, 8}),
    "an unlisted topic": (
        lambda f: f.topics_by_id.update({3: replace(f.topics_by_id[3], visible=False)}),
        {"private": 1},
        {1, 2, 4, 5, 6, 7, 8},
    ),
    "a category turned private": (lambda f: f.closed.update({5: True}), {"private": 8}, set()),
    "a moved post": (
        lambda f: f.posts_by_id.update(
            {3: replace(f.posts_by_id[3], topic=f.topics_by_id[4], post=replace(f.posts_by_id[3].post, topic_id=4))}
        ),
        {"moved": 1},
        set(range(1, 9)),
    ),
    "a new title": (
        lambda f: f.topics_by_id.update({3: replace(f.topics_by_id[3], title="Snow")}),
        {"topic": 1},
        set(range(1, 9)),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_each_kind_of_drift_is_counted_mended_and_gone(
    change: str, forum: Forum, run: Callable[..., Drift], stored: Stored, database: Database
) -> None:
    make, expected, left = CHANGES[change]
    run()
    make(forum)
    assert drift(run(repair=False)) == expected
    assert drift(run()) == expected
    assert set(stored()) == left
    assert drift(run()) == {}
    check_statistics(database)


def test_a_forum_that_seems_to_have_lost_everything_empties_nothing(
    forum: Forum, run: Callable[..., Drift], stored: Stored
) -> None:
    for number in range(100, 200):
        forum.add(number)
    run()
    for number in range(100, 200):
        del forum.posts_by_id[number]
    with pytest.raises(SourceError, match="--force"):
        run()
    assert len(stored()) == 108
    assert drift(run(force=True)) == {"gone": 100}
    assert len(stored()) == 8


def test_a_post_that_the_index_buried_by_mistake_comes_back(
    forum: Forum, run: Callable[..., Drift], ingest: Ingest, stored: Stored
) -> None:
    run()
    ingest.destroy_posts([3], at=datetime.fromisoformat("2025-01-01T00:00Z"))
    assert drift(run()) in ({"missing": 1}, {})
    assert 3 in stored()


@pytest.mark.parametrize(("kind", "number"), [("post", 3), ("topic", 3), ("user", 9)])
def test_what_was_forgotten_is_no_drift_and_stays_forgotten(
    kind: Any, number: int, forum: Forum, run: Callable[..., Drift], ingest: Ingest, database: Database, stored: Stored
) -> None:
    forum.add(3, "rain number3", user_id=9)
    run()
    forget(kind, number, ingest, database)
    forum.add(20, "a later post", topic_id=3 if kind == "topic" else 20)
    for expected in ({} if kind == "topic" else {"missing": 1}, {}):
        found = run()
        assert drift(found) == expected
        assert found.forgotten == (2 if kind == "topic" else 1)
        assert 3 not in stored()


def test_tags_in_another_order_are_no_drift(forum: Forum, run: Callable[..., Drift], database: Database) -> None:
    forum.complete_topics = True
    forum.topics_by_id[3] = replace(forum.topics_by_id[3], tags=("gauge", "rain"))
    run()
    with database.connection() as connection:
        connection.execute("UPDATE topic SET tags = '{rain,gauge}' WHERE id = 3")
    assert drift(run()) == {}
    forum.topics_by_id[3] = replace(forum.topics_by_id[3], tags=("gauge", "snow"))
    assert drift(run()) == {"topic": 1}


def test_an_archive_cannot_be_reconciled_against(ingest: Ingest, database: Database, forum: Forum) -> None:
    forum.observes = False
    with pytest.raises(SourceError, match="what once was"):
        reconcile(forum, ingest, database)


def test_a_change_of_readers_has_the_replies_concerned_looked_at_once(
    forum: Forum, run: Callable[..., Drift], database: Database
) -> None:
    run()
    with database.connection() as connection:
        connection.execute(
            "INSERT INTO trace (id, ask_post_id, zone, route, body)"
            " VALUES ('t', 900, 'ok', 'answered', '{\"answer\": \"\", \"sources\": [], \"citations\": []}')"
        )
        connection.execute(
            "INSERT INTO ask (post_id, topic_id, post_number, state, trace_id, form, asked_at)"
            " VALUES (900, 1, 9, 'posted', 't', now(), now())"
        )
        connection.execute("INSERT INTO trace_post (trace_id, post_id, cited) VALUES ('t', 2, true)")

    def looked_at() -> list[str]:
        with database.connection() as connection:
            rows = connection.execute("DELETE FROM procrastinate_jobs RETURNING queueing_lock").fetchall()
        return [row[0] for row in rows]

    forum.closed[5] = True
    assert run().replies_to_correct == 1
    assert looked_at() == ["correct:900"]
    forum.readers = frozenset((1, 2))
    assert run().replies_to_correct == 1
    assert looked_at() == ["correct:900"]
    assert run().replies_to_correct == 0
    assert looked_at() == []
