"""What the index holds of posts, topics and categories: looked up before anything is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString

from clients.postgres.pool import Connection, Database
from clients.postgres.queries import queries
from forum.types import Category, Topic

#: A deletion by hand: nothing that is seen later undoes it.
FOR_EVER = datetime.fromisoformat("9999-12-31T00:00:00+00:00")


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownPost:
    """What the index holds of a post, for the look before any work."""

    source_hash: bytes | None
    content_hash: bytes | None
    updated_at: datetime
    version: int
    rules: int | None
    deleted: bool
    topic_id: int
    has_text: bool
    hidden: bool
    #: Deleted by hand, for good.
    forgotten: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredText:
    """A stored text with its topic's title, category and tags."""

    id: int
    topic_id: int
    text: str
    title: str
    tags: tuple[str, ...]
    category: str
    content_hash: bytes | None


class StoredPosts:
    """The reading side of the index in one database, as its writers need it. Methods raise DatabaseUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = queries("store")

    def known(self, ids: Sequence[int]) -> dict[int, KnownPost]:
        with self._database.connection() as connection:
            rows = connection.execute(self._sql["known"], {"ids": list(ids), "for_ever": FOR_EVER}).fetchall()
        return {
            row[0]: KnownPost(
                source_hash=row[1],
                content_hash=row[2],
                updated_at=row[3],
                version=row[4],
                rules=row[5],
                deleted=row[6],
                topic_id=row[7],
                has_text=row[8],
                hidden=row[9],
                forgotten=row[10],
            )
            for row in rows
        }

    def known_vectors(self, ids: Sequence[int], model_id: int) -> dict[int, bytes]:
        """Digest of the text that each post's vector (or set-aside mark) of this model belongs to."""
        with self._database.connection() as connection:
            return dict(
                connection.execute(self._sql["known_vectors"], {"ids": list(ids), "model": model_id}).fetchall()
            )

    def categories(self) -> dict[int, Category]:
        with self._database.connection() as connection:
            return read_categories(connection, self._sql["categories"])

    def topics(self, ids: Iterable[int]) -> dict[int, tuple[Topic, datetime]]:
        """The topics that the index knows, each with the moment at which it was so."""
        with self._database.connection() as connection:
            rows = connection.execute(self._sql["topics_now"], {"ids": sorted(set(ids))}).fetchall()
        return {row[0]: (read_topic(row), row[8]) for row in rows}

    def stale(self, after: int, limit: int) -> list[int]:
        """Posts above the id `after` whose text is to be composed anew, by id."""
        with self._database.connection() as connection:
            return read_ids(connection, self._sql["stale"], {"after": after, "limit": limit})

    def texts(self, ids: Sequence[int]) -> list[StoredText]:
        """The texts of these posts with what stands above them, by id; posts without a text are left out."""
        with self._database.connection() as connection:
            rows = connection.execute(self._sql["recompose_rows"], {"ids": list(ids)}).fetchall()
        return [
            StoredText(
                id=row[0],
                topic_id=row[1],
                text=row[2],
                title=row[3],
                tags=tuple(row[4]),
                category=row[5],
                content_hash=row[6],
            )
            for row in rows
        ]

    def texts_in_categories(self, category_ids: Sequence[int]) -> list[int]:
        """Posts of these categories whose text is stored."""
        with self._database.connection() as connection:
            return read_ids(connection, self._sql["texts_in_categories"], {"ids": list(category_ids)})

    def texts_seen_before(self, at: datetime) -> list[int]:
        """Posts whose text is stored and that nobody has seen at the forum since `at`, by id."""
        with self._database.connection() as connection:
            return read_ids(connection, self._sql["texts_seen_before"], {"at": at})

    def posts_of_topic(self, topic_id: int) -> list[int]:
        with self._database.connection() as connection:
            return read_ids(connection, self._sql["posts_of_topics"], {"ids": [topic_id]})

    def posts_of_user(self, user_id: int) -> list[int]:
        """The user's posts whose text is stored."""
        with self._database.connection() as connection:
            return read_ids(connection, self._sql["posts_of_user"], {"id": user_id})


def read_ids(connection: Connection, statement: LiteralString, arguments: Mapping[str, Any]) -> list[int]:
    return [row[0] for row in connection.execute(statement, arguments)]


def read_categories(connection: Connection, statement: LiteralString) -> dict[int, Category]:
    return {
        row[0]: Category(
            id=row[0],
            name=row[1],
            slug=row[2],
            parent_id=row[3],
            read_restricted=row[4],
            group_ids=frozenset(row[5]),
        )
        for row in connection.execute(statement)
    }


def read_topic(row: tuple[Any, ...]) -> Topic:
    return Topic(
        id=row[0],
        title=row[1],
        slug=row[2],
        category_id=row[3],
        tags=tuple(row[4]),
        archetype=row[5],
        visible=row[6],
        deleted_at=row[7],
    )
