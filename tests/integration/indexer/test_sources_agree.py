"""One forum by three roads (its API, its database, an archive of its API's pages): the same rows for the same post."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from psycopg import sql

from clients.archive_source import ArchiveSource
from clients.database_source import DatabaseSource
from clients.discourse import DiscourseClient
from clients.discourse_source import DiscourseSource
from clients.postgres.backfill_store import BackfillStore
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Database
from demo.runner import PracticeForum
from forum.config import Config
from forum.ports import PostSource
from indexer.backfill import backfill
from tests.integration.bot.conftest import fresh_database

from .conftest import Letters
from .test_database_source import SCHEMA, _drop

Row = dict[str, Any]

#: What each of the roads tells of a post and its topic.
OF_ALL = (
    "id topic_id post_number user_id username post_type reply_to_post_number created_at updated_at version like_count"
    " staff text title slug category_id"
)
#: An archive of posts knows no tags and no names of categories, which stand in what is embedded and counted.
OF_BOTH = f"{OF_ALL} tags category_name accepted_post_id content_hash terms doc_length"


@pytest.fixture(scope="module")
def practice() -> Iterator[PracticeForum]:
    with PracticeForum() as forum:
        yield forum


def settings(practice: PracticeForum) -> Config:
    return Config.parse({"forum": {"base_url": practice.url, "requests_per_minute": 100_000}})


def pages(practice: PracticeForum) -> Iterator[Row]:
    """The JSON of every public post, as `/posts.json` shows it."""
    before: int | None = None
    while True:
        params = {} if before is None else {"before": before}
        posts = httpx.get(f"{practice.url}/posts.json", params=params, trust_env=False).json()["latest_posts"]
        if not posts:
            return
        yield from posts
        before = min(post["id"] for post in posts)


def archive(practice: PracticeForum, folder: Path) -> PostSource:
    file = folder / "posts.jsonl"
    file.write_text("".join(json.dumps(post) + "\n" for post in pages(practice)))
    return ArchiveSource(file)


def fill(url: str, practice: PracticeForum) -> None:
    """The practice forum's tables as a Discourse has them."""
    store = practice.forum.store
    with psycopg.connect(url) as connection:
        connection.execute(SCHEMA)
        for table in ("users", "categories", "category_groups", "topics", "posts", "tags", "topic_tags"):
            connection.execute(sql.SQL("TRUNCATE {}").format(sql.Identifier(table)))
        connection.execute("TRUNCATE tag_group_memberships, tag_group_permissions")
        connection.execute("CREATE TABLE topic_custom_fields (topic_id int, name text, value text)")
        for user in store.users.values():
            values = (user.id, user.username, user.username.lower(), user.admin, user.moderator)
            connection.execute("INSERT INTO users VALUES (%s, %s, %s, %s, %s)", values)
        for one in store.categories.values():
            values = (one.id, one.name, one.slug, one.parent_id, one.read_restricted)
            connection.execute("INSERT INTO categories VALUES (%s, %s, %s, %s, %s)", values)
        tags = {name: n for n, name in enumerate(sorted({t for topic in store.topics.values() for t in topic.tags}))}
        for name, n in tags.items():
            connection.execute("INSERT INTO tags VALUES (%s, %s)", (n, name))
        for topic in store.topics.values():
            connection.execute(
                "INSERT INTO topics (id, title, slug, category_id, archetype, visible, closed, archived, deleted_at,"
                " created_at) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
                (
                    topic.id,
                    topic.title,
                    topic.slug,
                    topic.category_id,
                    topic.archetype,
                    topic.visible,
                    topic.closed,
                    topic.archived,
                    topic.deleted_at,
                    topic.created_at,
                ),
            )
            for tag in topic.tags:
                connection.execute("INSERT INTO topic_tags VALUES (%s, %s)", (topic.id, tags[tag]))
            if topic.accepted_post_id:
                connection.execute(
                    "INSERT INTO topic_custom_fields VALUES (%s, 'accepted_answer_post_id', %s)",
                    (topic.id, str(topic.accepted_post_id)),
                )
        for post in store.posts.values():
            connection.execute(
                "INSERT INTO posts (id, topic_id, post_number, user_id, cooked, created_at, updated_at,"
                " reply_to_post_number, like_count, post_type, hidden, user_deleted, deleted_at, version)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
                (
                    post.id,
                    post.topic_id,
                    post.post_number,
                    post.user_id,
                    post.cooked,
                    post.created_at,
                    post.updated_at,
                    post.reply_to,
                    post.like_count,
                    post.post_type,
                    post.hidden,
                    post.user_deleted,
                    post.deleted_at,
                    post.version,
                ),
            )


@pytest.fixture(scope="module")
def rows(
    practice: PracticeForum, postgres_url: str, template_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str, str], dict[int, Row]]]:
    """rows(SOURCE, COLUMNS): what an index of that source holds of each public post."""
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute("CREATE DATABASE discourse_of_practice")
    url = postgres_url.replace("/threadcite?", "/discourse_of_practice?", 1)
    config = settings(practice)
    try:
        fill(url, practice)
        sources: dict[str, PostSource] = {
            "discourse": DiscourseSource(DiscourseClient(config.forum), config),
            "database": DatabaseSource(url),
            "archive": archive(practice, tmp_path_factory.mktemp("archive")),
        }
        urls = {name: fresh_database(postgres_url, template_database) for name in sources}
        for name, source in sources.items():
            with Database(urls[name]) as database:
                backfill(source, Ingest(database, Letters(), config), BackfillStore(database), batch_posts=1000)

        def read(name: str, columns: str) -> dict[int, Row]:
            with psycopg.connect(urls[name], row_factory=psycopg.rows.dict_row) as connection:
                named = sql.SQL(", ").join(map(sql.Identifier, columns.split()))
                found = connection.execute(sql.SQL("SELECT {} FROM public_post").format(named)).fetchall()
            return {row["id"]: row for row in found}

        yield read
    finally:
        _drop(postgres_url, "discourse_of_practice")


def differences(left: dict[int, Row], right: dict[int, Row]) -> dict[int, dict[str, tuple[Any, Any]]]:
    """By post, the columns that differ; a post that one of the two has not."""
    found: dict[int, dict[str, tuple[Any, Any]]] = {}
    for one in left.keys() | right.keys():
        a, b = left.get(one, {}), right.get(one, {})
        if unlike := {key: (a.get(key), b.get(key)) for key in a.keys() | b.keys() if a.get(key) != b.get(key)}:
            found[one] = unlike
    return found


def test_the_api_and_the_database_give_the_same_rows(rows: Callable[[str, str], dict[int, Row]]) -> None:
    told = rows("discourse", OF_BOTH)
    assert len(told) > 250
    assert differences(told, rows("database", OF_BOTH)) == {}


def test_an_archive_gives_the_same_posts(rows: Callable[[str, str], dict[int, Row]]) -> None:
    assert differences(rows("discourse", OF_ALL), rows("archive", OF_ALL)) == {}
