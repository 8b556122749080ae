"""Events arrive twice, late and out of order; the index ends where the forum is."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from clients.discourse_json import read_source_post
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Database
from clients.postgres.stored_posts import FOR_EVER
from forum.types import Category, SourcePost, Topic

from .conftest import Letters, check_statistics, record

Stored = Callable[[], dict[int, str]]
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def post(number: int, words: str = "snow and rain", *, day: int = 1, **facts: Any) -> SourcePost:
    changed = (datetime(2025, 1, 1, tzinfo=UTC) + timedelta(days=day)).isoformat()
    return read_source_post(record(number, words, updated_at=changed, **facts))


def test_an_older_version_never_overwrites_a_newer_one(ingest: Ingest, stored: Stored) -> None:
    ingest.ingest([post(1, "second words", day=2, version=2)])
    report = ingest.ingest([post(1, "first words", day=1)])
    assert stored() == {1: "second words"}
    assert report.skipped == {"older version": 1}


def test_an_equal_version_that_is_told_again_changes_nothing(ingest: Ingest, stored: Stored) -> None:
    ingest.ingest([post(1, "first words")])
    ingest.ingest([post(1, "other words")])
    assert stored() == {1: "first words"}


def test_the_newest_of_two_versions_in_one_batch_wins(ingest: Ingest, stored: Stored) -> None:
    ingest.ingest([post(1, "second words", day=2, version=2), post(1, "first words", day=1)])
    assert stored() == {1: "second words"}


def test_an_unchanged_post_is_neither_cleaned_nor_embedded(ingest: Ingest, letters: Letters) -> None:
    ingest.ingest([post(1), post(2)])
    letters.calls.clear()
    report = ingest.ingest([post(1), post(2)])
    assert (report.unchanged, letters.calls) == (2, [])


def test_a_change_that_leaves_the_text_alone_is_not_embedded_again(ingest: Ingest, letters: Letters) -> None:
    ingest.ingest([post(1)])
    letters.calls.clear()
    report = ingest.ingest([post(1, day=2, like_count=9)])
    assert (report.indexed, letters.calls) == (1, [])


def test_a_destroyed_post_stays_dead_for_every_event_from_before(
    ingest: Ingest, stored: Stored, database: Database
) -> None:
    ingest.ingest([post(1), post(2)])
    assert ingest.destroy_posts([1], at=NOW) == {1}
    ingest.ingest([post(1, "edited late", day=40, version=3)])
    assert list(stored()) == [2]
    check_statistics(database)


def test_a_deletion_that_comes_before_its_post_holds(ingest: Ingest, stored: Stored) -> None:
    ingest.destroy_posts([1], at=NOW)
    ingest.ingest([post(1)])
    assert stored() == {}


def test_a_post_recovered_later_lives_again(ingest: Ingest, stored: Stored) -> None:
    ingest.ingest([post(1)])
    ingest.destroy_posts([1], at=NOW)
    ingest.recover_posts([post(1)], at=NOW + timedelta(seconds=1))
    assert list(stored()) == [1]


def test_a_recovery_from_before_the_deletion_does_not_count(ingest: Ingest, stored: Stored) -> None:
    ingest.destroy_posts([1], at=NOW)
    ingest.recover_posts([post(1)], at=NOW - timedelta(seconds=1))
    assert stored() == {}


def test_a_deletion_from_before_a_recovery_comes_too_late(ingest: Ingest, stored: Stored) -> None:
    ingest.recover_posts([post(1)], at=NOW)
    assert ingest.destroy_posts([1], at=NOW - timedelta(seconds=1)) == frozenset()
    assert list(stored()) == [1]


def test_what_was_forgotten_for_ever_never_comes_back(ingest: Ingest, stored: Stored) -> None:
    ingest.ingest([post(1)])
    ingest.destroy_posts([1], at=FOR_EVER)
    ingest.recover_posts([post(1)], at=NOW)
    assert stored() == {}


def test_reading_the_forum_settles_what_has_no_version(ingest: Ingest, stored: Stored) -> None:
    ingest.ingest([post(1)])
    ingest.ingest([post(1, hidden=True)], observed_at=NOW)
    assert stored() == {}
    ingest.ingest([post(1)])
    assert stored() == {}, "a stale delivery must not show what is hidden"
    ingest.ingest([post(1)], observed_at=NOW + timedelta(seconds=1))
    assert list(stored()) == [1]


def test_the_stub_of_a_self_deleted_post_is_never_indexed(ingest: Ingest, stored: Stored) -> None:
    ingest.ingest([post(1), post(2)])
    ingest.ingest(
        [post(1, "(post deleted by author)", day=2, user_deleted=True), post(2, "(post deleted by author)", day=2)]
    )
    assert stored() == {}


def test_a_new_title_is_searched_in_every_post_of_the_topic(ingest: Ingest, database: Database) -> None:
    ingest.ingest([post(1, topic_id=5), post(2, topic_id=5, post_number=2)])
    ingest.put_topics([Topic(id=5, title="Hailstones")], at=NOW)
    with database.connection() as connection:
        found = connection.execute("SELECT count(*) FROM public_post WHERE terms @@ 'hailston'::tsquery").fetchone()
        vectors = connection.execute(
            "SELECT count(*) FROM embedding e JOIN post p ON p.id = e.post_id AND p.content_hash = e.content_hash"
        ).fetchone()
    assert (found, vectors) == ((2,), (2,))
    check_statistics(database)


def test_a_category_that_closes_takes_its_posts_out(ingest: Ingest, stored: Stored, database: Database) -> None:
    ingest.ingest([post(1, category_id=3), post(2)], declared_public=True)
    gone = ingest.put_categories([Category(id=3, name="Staff", read_restricted=True)], at=NOW).gone
    assert (gone, list(stored())) == ({1}, [2])
    with database.connection() as connection:
        texts = connection.execute("SELECT id FROM post WHERE text IS NOT NULL OR username <> ''").fetchall()
        titles = connection.execute("SELECT id FROM topic WHERE title <> ''").fetchall()
        vectors = connection.execute("SELECT post_id FROM embedding").fetchall()
    assert (texts, titles, vectors) == ([(2,)], [(2,)], [(2,)])
    check_statistics(database)


def test_a_category_that_only_a_webhook_named_is_closed_until_described(ingest: Ingest, stored: Stored) -> None:
    report = ingest.ingest([post(1, category_id=3)])
    assert (stored(), report.skipped) == ({}, {"category not described": 1})
    ingest.put_categories([Category(id=3, name="Help", read_restricted=False)], at=NOW)
    ingest.ingest([post(1, category_id=3)])
    assert list(stored()) == [1]


PRIVATE = {
    "private message": {"topic_archetype": "private_message"},
    "whisper": {"post_type": 4},
    "small action": {"post_type": 3},
    "hidden": {"hidden": True},
    "deleted": {"deleted_at": "2025-06-01T00:00:00Z"},
    "deleted by its author": {"user_deleted": True},
    "by a deleted user": {"user_id": None},
    "by the bot": {"username": "Threadcite"},
}


@pytest.mark.parametrize("kind", PRIVATE)
def test_what_is_not_public_leaves_no_text_anywhere(kind: str, ingest: Ingest, database: Database) -> None:
    ingest.ingest([post(1, "the secret zebra", topic_title="A zebra title", **PRIVATE[kind])])
    with database.connection() as connection:
        tables = connection.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE c.relkind = 'r' AND n.nspname = 'public' AND c.relname !~ '^(_yoyo|yoyo|procrastinate)'"
        ).fetchall()
        for (table,) in tables:
            rows = connection.execute(f"SELECT * FROM {table}").fetchall()
            secret = "the secret" if kind not in ("private message",) else "zebra"
            assert secret not in repr(rows), table
        assert connection.execute("SELECT count(*) FROM embedding").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM term").fetchone() == (0,)


def test_a_topic_told_as_unlisted_stays_so_when_a_post_tells_nothing_of_it(ingest: Ingest, stored: Stored) -> None:
    ingest.put_topics([Topic(id=1, title="Quiet", visible=False)], at=datetime(2025, 1, 1, tzinfo=UTC))
    ingest.ingest([post(1, day=9)])
    assert stored() == {}


def test_links_to_other_topics_are_kept_with_their_date(ingest: Ingest, database: Database) -> None:
    link = 'see <a href="https://forum.example/t/rain/9/3">this</a> and <a href="/t/8">that</a>'
    other = 'not <a href="https://elsewhere.example/t/rain/7">this</a>'
    ingest.ingest([post(1, link + other, topic_id=5)])
    with database.connection() as connection:
        rows = connection.execute("SELECT from_topic_id, to_topic_id FROM topic_link ORDER BY 2").fetchall()
    assert rows == [(5, 8), (5, 9)]
    ingest.ingest([post(1, "no link any more", day=2, topic_id=5)])
    with database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM topic_link").fetchone() == (0,)


def test_a_topics_vector_is_the_mean_of_its_posts(ingest: Ingest, database: Database) -> None:
    ingest.ingest([post(1, "aaaa", topic_id=5), post(2, "bbbb", topic_id=5, post_number=2)])
    with database.connection() as connection:
        far = connection.execute(
            "SELECT max(abs(l2_norm(te.vector) - 1)), max(te.vector <=> (SELECT avg(vector) FROM embedding))"
            " FROM topic_embedding te"
        ).fetchone()
    assert far is not None
    assert max(far) < 0.001
    ingest.destroy_posts([1, 2], at=NOW)
    with database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM topic_embedding").fetchone() == (0,)


def test_a_moved_post_leaves_its_old_topics_vector(ingest: Ingest, database: Database) -> None:
    ingest.ingest([post(1, "aaaa", topic_id=5), post(2, "bbbb", topic_id=6)])
    ingest.ingest([post(1, "aaaa", topic_id=6, post_number=2)], observed_at=NOW)
    with database.connection() as connection:
        assert connection.execute("SELECT topic_id FROM topic_embedding").fetchall() == [(6,)]


@pytest.mark.parametrize("seed", range(3))
def test_any_order_of_events_by_several_workers_ends_at_the_newest(
    seed: int, database: Database, letters: Letters, stored: Stored
) -> None:
    """Versions and deletions of 30 posts in 8 topics, shuffled and sent twice, by four workers at once."""
    from forum.config import Config

    chance = random.Random(seed)
    events: list[tuple[str, Any]] = []
    last: dict[int, str] = {}
    for number in range(1, 31):
        versions = chance.randint(1, 4)
        for version in range(1, versions + 1):
            words = (
                " ".join(chance.choices(["rain", "snow", "hail", "fog", "sun", "wind", "ice"], k=6)) + f" v{version}"
            )
            events.append(("post", post(number, words, day=version, version=version, topic_id=number % 8)))
            last[number] = words
        if chance.random() < 0.3:
            events.append(("gone", number))
            del last[number]
    events *= 2
    chance.shuffle(events)
    shares = [events[at::4] for at in range(4)]

    def work(share: list[tuple[str, Any]]) -> None:
        worker = Ingest(database, letters, Config(), forum_host="forum.example")
        while share:
            size = chance.randint(1, 6)
            now, share = share[:size], share[size:]
            worker.ingest([what for kind, what in now if kind == "post"])
            worker.destroy_posts([what for kind, what in now if kind == "gone"], at=NOW)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, shares))
    assert stored() == last
    check_statistics(database)
    with database.connection() as connection:
        wrong = connection.execute(
            "SELECT p.id FROM public_post p LEFT JOIN embedding e ON e.post_id = p.id"
            " WHERE e.content_hash IS DISTINCT FROM p.content_hash"
        ).fetchall()
        assert wrong == []
        topics = connection.execute("SELECT count(*) FROM topic_embedding").fetchone()
    assert topics == (len({number % 8 for number in last}),)
