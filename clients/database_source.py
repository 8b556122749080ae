"""Posts of a Discourse Postgres (a replica, read only), newest first; whatever its version keeps is looked up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, LiteralString

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from clients.postgres.place import place
from clients.postgres.queries import queries
from forum.errors import UsageError
from forum.types import Category, Post, SourcePost, Topic
from forum.unicode_safety import encodable

_PAGE = 2_000
_NEEDED = ("posts", "topics", "categories")

Row = dict[str, Any]


class DatabaseSource:
    """Every post with all that the forum knows of it; what is not public is told so and left out by the pipeline.

    A cursor is the id of the last post read. Raises UsageError for an address that is no Discourse database,
    SourceError when it goes away.
    """

    declared_public = False
    complete_topics = True
    observes = True

    def __init__(self, url: str) -> None:
        try:
            conninfo_to_dict(url)
        except psycopg.Error as error:
            raise UsageError(f"SOURCE database: no address of a Postgres ({_line(error)}).") from error
        self._url = url
        self._place = place(url)
        self._sql = queries("discourse")
        self.skipped: Counter[str] = Counter()

    @property
    def name(self) -> str:
        return f"database:{self._place}"

    def total(self) -> int | None:
        with self._connect() as connection:
            row = connection.execute("SELECT count(*) AS posts FROM posts").fetchone()
        return int(row["posts"]) if row else None

    def categories(self) -> Sequence[Category]:
        with self._connect() as connection:
            rows = connection.execute(self._sql["categories"]).fetchall()
        return [
            Category(
                id=row["id"],
                name=encodable(row["name"] or ""),
                slug=encodable(row["slug"] or ""),
                parent_id=row["parent_category_id"],
                read_restricted=row["read_restricted"],
                group_ids=frozenset(row["group_ids"]),
            )
            for row in rows
        ]

    def topics(self) -> Sequence[Topic]:
        return ()

    def posts(self, *, after: str | None = None) -> Iterator[tuple[SourcePost, str]]:
        before = int(after) if after and after.isdigit() else 2**62
        while True:
            with self._connect() as connection:
                rows = connection.execute(self._sql["posts"], {"before": before, "limit": _PAGE}).fetchall()
                topic_ids = sorted({row["topic_id"] for row in rows if row["topic_id"] is not None})
                tags = _tags(connection, self._sql, topic_ids)
                accepted = _accepted(connection, self._sql, topic_ids)
            if not rows:
                return
            for row in rows:
                before = row["id"]
                if row["topic_id"] is None or row["topic"] is None:
                    self.skipped["without a topic"] += 1
                    continue
                yield _source_post(row, tags, accepted), str(before)

    def _connect(self) -> psycopg.Connection[Row]:
        try:
            connection = psycopg.connect(
                self._url,
                connect_timeout=5,
                row_factory=dict_row,
                options="-c default_transaction_read_only=on -c statement_timeout=60000",
            )
            absent = [name for name in _NEEDED if not _has(connection, name)]
        except psycopg.OperationalError as error:
            raise UsageError(f"SOURCE {self.name} cannot be reached: {_line(error)}") from error
        if absent:
            connection.close()
            raise UsageError(f"SOURCE {self.name} is no Discourse database: it has no table {absent[0]}.")
        return connection


def _has(connection: psycopg.Connection[Row], table: str, column: str | None = None) -> bool:
    statement: LiteralString = (
        "SELECT 1 FROM information_schema.columns WHERE table_schema = ANY (current_schemas(false))"
        " AND table_name = %s AND column_name = coalesce(%s, column_name) LIMIT 1"
    )
    return connection.execute(statement, (table, column)).fetchone() is not None


def _tags(
    connection: psycopg.Connection[Row], sql: Mapping[str, LiteralString], topics: Sequence[int]
) -> dict[int, tuple[str, ...]]:
    """Tags that everyone may see: those of a tag group that only some may see are left out."""
    if not _has(connection, "topic_tags") or not _has(connection, "tags"):
        return {}
    grouped = _has(connection, "tag_group_permissions") and _has(connection, "tag_group_memberships")
    rows = connection.execute(sql["open_tags" if grouped else "tags"], {"topics": topics}).fetchall()
    return {row["topic_id"]: tuple(sorted(map(encodable, row["names"]))) for row in rows}


def _accepted(
    connection: psycopg.Connection[Row], sql: Mapping[str, LiteralString], topics: Sequence[int]
) -> dict[int, int]:
    """The accepted answer by topic, from whichever of the three generations of tables holds one; the newest wins."""
    found: dict[int, int] = {}
    generations: tuple[tuple[LiteralString, str, str], ...] = (
        ("solved_fields", "topic_custom_fields", "value"),
        ("solved_topics", "discourse_solved_solved_topics", "answer_post_id"),
        ("solved_answers", "discourse_solved_topic_answers", "answer_post_id"),
    )
    for query, table, column in generations:
        if _has(connection, table, column):
            rows = connection.execute(sql[query], {"topics": topics}).fetchall()
            found |= {row["topic_id"]: row["post_id"] for row in rows}
    return found


def _source_post(row: Row, tags: Mapping[int, tuple[str, ...]], accepted: Mapping[int, int]) -> SourcePost:
    topic = row["topic_id"]
    answer = accepted.get(topic)
    return SourcePost(
        post=Post(
            id=row["id"],
            topic_id=topic,
            post_number=row["post_number"],
            cooked=encodable(row["cooked"] or ""),
            created_at=row["created_at"],
            updated_at=row["updated_at"],
            user_id=row["user_id"],
            username=encodable(row["username"] or ""),
            version=row["version"],
            post_type=row["post_type"],
            reply_to_post_number=row["reply_to_post_number"],
            hidden=row["hidden"],
            deleted_at=row["deleted_at"],
            user_deleted=row["user_deleted"],
            like_count=row["like_count"],
            staff=bool(row["staff"]),
            accepted_answer=answer == row["id"],
        ),
        topic=Topic(
            id=topic,
            title=encodable(row["title"] or ""),
            slug=encodable(row["slug"] or ""),
            category_id=row["category_id"],
            tags=tags.get(topic, ()),
            archetype=row["archetype"],
            visible=row["visible"],
            closed=row["closed"],
            archived=row["archived"],
            created_at=row["topic_created_at"],
            deleted_at=row["topic_deleted_at"],
            like_count=row["topic_like_count"],
            views=row["views"],
            accepted_post_id=answer,
        ),
    )


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
