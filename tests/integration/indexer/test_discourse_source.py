"""A forum read through its API: everything public comes in, nothing else, whatever the forum answers meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from clients.discourse import DiscourseClient
from clients.discourse_source import DiscourseSource
from clients.postgres.backfill_store import BackfillStore
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Database
from clients.secrets import Secret
from demo.content import CONTENT
from demo.runner import ADMIN_KEY, BOT_KEY, PracticeForum
from forum.config import Config
from forum.errors import RemoteUnavailable, SourceError
from forum.types import Category, Post, SourcePost, Topic
from indexer.backfill import backfill

from .conftest import Letters, check_statistics, record

Stored = Callable[[], dict[int, str]]


@pytest.fixture(scope="module")
def practice() -> Iterator[PracticeForum]:
    with PracticeForum() as forum:
        yield forum


def config(practice: PracticeForum, user: str = "threadcite", **indexer: Any) -> Config:
    return Config.parse(
        {
            "forum": {"base_url": practice.url, "bot_username": user, "requests_per_minute": 100_000},
            "indexer": indexer,
        }
    )


def crawl(
    practice: PracticeForum, database: Database, key: str | None = None, user: str = "threadcite", **indexer: Any
) -> Ingest:
    settings = config(practice, user, **indexer)
    ingest = Ingest(database, Letters(), settings)
    client = DiscourseClient(settings.forum, key=Secret(key) if key else None)
    backfill(DiscourseSource(client, settings), ingest, BackfillStore(database), batch_posts=1000)
    return ingest


@pytest.mark.parametrize(("key", "user"), [(None, "threadcite"), (BOT_KEY, "threadcite"), (ADMIN_KEY, "maelle")])
def test_every_public_post_and_no_secret_comes_in_whatever_the_key_may_see(
    key: str | None, user: str, practice: PracticeForum, database: Database, stored: Stored
) -> None:
    crawl(practice, database, key, user)
    secrets = [one["token"] for one in yaml.safe_load((CONTENT / "secrets.yml").read_text())["secrets"]]
    assert len(stored()) > 250
    with database.connection() as connection:
        dump = repr(
            [
                connection.execute(f"SELECT * FROM {table}").fetchall()
                for table in ("post", "topic", "category", "term", "topic_link", "set_aside", "backfill")
            ]
        )
    assert [token for token in secrets if token in dump or token.lower() in dump] == []
    check_statistics(database)


def test_topics_bring_their_tags_and_categories_their_names(practice: PracticeForum, database: Database) -> None:
    crawl(practice, database)
    with database.connection() as connection:
        tagged = connection.execute("SELECT count(*) FROM public_post WHERE tags <> '{}'").fetchone()
        named = connection.execute("SELECT count(*) FROM public_post WHERE category_name IS NULL").fetchone()
    assert tagged is not None
    assert tagged[0] > 20
    assert named == (0,)


def test_a_second_crawl_finds_everything_unchanged(practice: PracticeForum, database: Database) -> None:
    crawl(practice, database)
    settings = config(practice)
    letters = Letters()
    done = backfill(
        DiscourseSource(DiscourseClient(settings.forum), settings),
        Ingest(database, letters, settings),
        BackfillStore(database),
        batch_posts=1000,
    )
    assert (done.indexed, done.unchanged, letters.calls) == (0, done.seen, [])


def test_an_opened_category_comes_in_with_the_groups_that_may_read_it(
    practice: PracticeForum, database: Database
) -> None:
    categories = DiscourseClient(config(practice, "maelle").forum, key=Secret(ADMIN_KEY)).categories()
    closed = [one.id for one in categories if one.read_restricted]
    assert closed
    crawl(practice, database, ADMIN_KEY, "maelle", opened_category_ids=closed)
    with database.connection() as connection:
        groups = connection.execute(
            "SELECT bool_and(cardinality(group_ids) > 0) FROM category WHERE read_restricted"
        ).fetchone()
    assert groups == (True,)


def test_a_chosen_category_brings_its_children_in_or_leaves_them_out(database: Database, stored: Stored) -> None:
    from clients.discourse_json import read_source_post

    posts = [
        read_source_post(record(n, category_id=category)) for n, category in ((1, 5), (2, 9), (3, 9), (4, 9), (5, 6))
    ]
    described = [
        Category(id=5, name="Help", read_restricted=False),
        Category(id=9, name="Rain", parent_id=5, read_restricted=False),
        Category(id=6, name="Other", read_restricted=False),
    ]
    for children, expected in ((False, [1]), (True, [1, 2, 3, 4])):
        chosen = Ingest(
            database,
            Letters(),
            Config.parse({"indexer": {"category_ids": [5], "include_subcategories": children}}),
        )
        chosen.put_categories(described, at=posts[0].post.updated_at)
        chosen.ingest(posts)
        assert list(stored()) == expected


class Scripted:
    """Answers `latest_posts` from a function, with the failures that the script holds first."""

    def __init__(self, pages: Callable[[int | None], list[SourcePost]], failures: list[Exception]) -> None:
        self.pages, self.failures, self.asked = pages, failures, list[int | None]()

    def latest_posts(self, before: int | None = None) -> list[SourcePost]:
        if self.failures:
            raise self.failures.pop(0)
        self.asked.append(before)
        return self.pages(before)


def told(number: int) -> SourcePost:
    from clients.discourse_json import instant

    when = instant("2024-01-01T00:00:00Z")
    assert when is not None
    return SourcePost(
        post=Post(id=number, topic_id=1, post_number=number, cooked="x", created_at=when, updated_at=when),
        topic=Topic(id=1, title="T"),
    )


def read(scripted: Scripted, after: str | None = None) -> tuple[list[int], list[float]]:
    slept: list[float] = []
    source = DiscourseSource(scripted, Config(), sleep=slept.append)  # type: ignore[arg-type]
    return [one.post.id for one, _ in source.posts(after=after)], slept


IDS = [1, 2, 3, 60, 61, 400, 401, 402]


def test_a_forum_that_pages_by_number_of_posts_is_read_to_its_end() -> None:
    def page(before: int | None) -> list[SourcePost]:
        return [told(n) for n in sorted(IDS, reverse=True) if before is None or n < before][:3]

    assert read(Scripted(page, []))[0] == sorted(IDS, reverse=True)


def test_an_old_forum_that_pages_by_windows_of_ids_is_read_across_empty_windows() -> None:
    def page(before: int | None) -> list[SourcePost]:
        top = max(IDS) + 1 if before is None else before
        return [told(n) for n in IDS if top - 50 <= n < top]

    assert read(Scripted(page, []))[0] == sorted(IDS, reverse=True)


def test_a_crawl_goes_on_below_its_cursor() -> None:
    def page(before: int | None) -> list[SourcePost]:
        return [told(n) for n in sorted(IDS, reverse=True) if before is None or n < before][:3]

    assert read(Scripted(page, []), after="61")[0] == [60, 3, 2, 1]


def test_a_throttled_crawl_waits_as_long_as_the_forum_asks() -> None:
    busy = RemoteUnavailable("busy", status=429, retry_after_s=37)
    ids, slept = read(Scripted(lambda before: [told(5)] if before is None else [], [busy, busy]))
    assert (ids, slept) == ([5], [37, 37])


def test_a_forum_that_is_not_there_stops_the_run_soon_with_one_line_that_says_how_to_mend_it() -> None:
    down = [RemoteUnavailable("Discourse cannot be reached.") for _ in range(20)]
    with pytest.raises(SourceError, match=r"cannot be reached\. It failed 3 times in a row\. Check forum.base_url"):
        read(Scripted(lambda before: [], down))
    assert len(down) == 17


def test_a_forum_that_goes_away_in_the_middle_is_waited_for_and_each_pause_is_told() -> None:
    def page(before: int | None) -> list[SourcePost]:
        if before is None:
            scripted.failures += [RemoteUnavailable("Discourse cannot be reached.") for _ in range(20)]
            return [told(5)]
        return []

    scripted, waits = Scripted(page, []), list[str]()
    source = DiscourseSource(scripted, Config(), on_wait=waits.append, sleep=lambda _: None)  # type: ignore[arg-type]
    with pytest.raises(SourceError, match="8 times in a row"):
        list(source.posts())
    assert waits[0] == "Discourse cannot be reached. Try 1 of 8, the next in 2 s."
    assert len(waits) == 7


def test_the_command_tells_of_an_absent_forum_in_its_own_words_only(database_url: str, tmp_path: Path) -> None:
    (tmp_path / "config.yml").write_text("forum: {base_url: 'http://127.0.0.1:9', bot_username: threadcite}")
    ours = {"THREADCITE_CONFIG": str(tmp_path / "config.yml"), "THREADCITE_DATABASE_URL": database_url}
    ran = subprocess.run(
        [sys.executable, "-m", "indexer", "backfill", "discourse", "--json"],
        env={**os.environ, **ours},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = ran.stderr.splitlines()
    assert (ran.returncode, ran.stdout) == (1, "")
    assert [line for line in lines if not line.startswith("threadcite: ")] == []
    assert "Check forum.base_url" in lines[-1]
    assert len(lines) == 3


def test_blank_credentials_are_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx

    from clients.secrets import read_secret

    seen: list[httpx.Headers] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers)
        return httpx.Response(200, json={"latest_posts": []})

    monkeypatch.setenv("THREADCITE_DISCOURSE_API_KEY", "")
    client = DiscourseClient(
        Config().forum, key=read_secret("DISCOURSE_API_KEY"), transport=httpx.MockTransport(answer)
    )
    client.latest_posts()
    assert "api-key" not in seen[0]
    assert "api-username" not in seen[0]
