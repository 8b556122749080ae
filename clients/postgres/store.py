"""Writes posts, topics and categories, and everything that hangs on them, in one transaction a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, LiteralString, TypeVar

import psycopg
from pgvector import HalfVector

from clients.postgres.batch import Batch, Described, Written
from clients.postgres.mark import Mark, advance
from clients.postgres.pool import Connection
from clients.postgres.store_rows import (
    LINK_TYPES,
    POST_TYPES,
    TOPIC_TYPES,
    VECTOR_TYPES,
    VectorRow,
)
from clients.postgres.stored_posts import StoredPosts, read_categories, read_ids, read_topic
from forum.errors import DatabaseUnavailable
from forum.public import Admission
from forum.types import Category

#: A deadlock or a lost race is settled by doing the batch again.
_TRIES = 5

_T = TypeVar("_T")


class _LostRace(Exception):
    """Another transaction inserted a post of this batch after we had looked."""


class PostStore(StoredPosts):
    """The writing side of the index in one database, with its reading side. Methods raise DatabaseUnavailable."""

    def put_categories(self, categories: Sequence[Category], *, at: datetime, admission: Admission) -> Described:
        """Describe categories as they are at `at`; posts of those that are closed now lose their text."""

        def work(connection: Connection) -> Described:
            before = read_categories(connection, self._sql["categories"])
            for one in sorted(categories, key=lambda one: one.id):
                connection.execute(
                    self._sql["put_category"],
                    {
                        "id": one.id,
                        "name": one.name,
                        "slug": one.slug,
                        "parent_id": one.parent_id,
                        "read_restricted": one.read_restricted,
                        "group_ids": sorted(one.group_ids),
                        "at": at,
                    },
                )
            described = read_categories(connection, self._sql["categories"])
            closed = [
                one.id for one in categories if described[one.id].read_restricted and one.id not in admission.opened
            ]
            renamed = [one.id for one in categories if one.id in before and before[one.id].name != one.name]
            connection.execute(self._sql["mark_stale_categories"], {"ids": renamed})
            topics = read_ids(connection, self._sql["topics_of_categories"], {"ids": closed})
            gone = self._close_topics(connection, topics, "restricted category")
            other = [one for one in before if _readers(before[one]) != _readers(described[one])]
            return Described(gone=gone, other_readers=frozenset(other))

        return self._transact(work)

    def write(self, batch: Batch, *, admission: Admission, mark: Callable[[Written], Mark] | None = None) -> Written:
        """Write a batch: the newest version of each post wins, and only what is public keeps its text."""

        def work(connection: Connection) -> Written:
            written = self._write(connection, batch, admission)
            if mark is not None:
                advance(connection, mark(written))
            return written

        return self._transact(work)

    def recompose(self, rows: Sequence[tuple[int, int, str, bytes, str, int, bool]]) -> frozenset[int]:
        """Replace digest, terms and length of texts that stay: (id, topic, text, digest, terms, length, truncated)."""

        def work(connection: Connection) -> frozenset[int]:
            with connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO incoming (id, topic_id, text, content_hash, terms, doc_length, truncated)"
                    " VALUES (%s, %s, %s, %s, %s, %s, %s)",
                    rows,
                )
            topics = sorted({row[1] for row in rows})
            connection.execute(self._sql["hold_topics"], {"ids": topics})
            self._hold_posts(connection, [row[0] for row in rows])
            return self._settle(connection, connection.execute(self._sql["apply_recomposed"]).fetchall(), None)

        return self._transact(work)

    def put_vectors(self, vectors: Sequence[VectorRow], model_id: int) -> None:
        """Add vectors (or set-aside marks) to texts that have none of this model."""

        def work(connection: Connection) -> None:
            ids = [row.post_id for row in vectors]
            topics = read_ids(connection, self._sql["topics_of_posts"], {"ids": ids})
            connection.execute(self._sql["hold_topics"], {"ids": topics})
            _copy(connection, self._sql["copy_incoming_vector"], VECTOR_TYPES, map(_vector, vectors))
            self._vectors(connection, model_id)
            self._topic_vectors(connection, topics)

        self._transact(work)

    def bury_posts(self, ids: Sequence[int], *, at: datetime) -> frozenset[int]:
        """The posts are dead for everything seen up to `at`; returns those that were not seen alive later."""

        def work(connection: Connection) -> frozenset[int]:
            connection.execute(
                self._sql["hold_topics"],
                {"ids": read_ids(connection, self._sql["topics_of_posts"], {"ids": sorted(ids)})},
            )
            buried = read_ids(connection, self._sql["bury"], {"ids": sorted(set(ids)), "at": at})
            return self._remove(connection, buried, "deleted")

        return self._transact(work)

    def bury_topics(self, ids: Sequence[int], *, at: datetime) -> frozenset[int]:
        """The topics are dead for everything seen up to `at`; returns the posts that lost their text."""

        def work(connection: Connection) -> frozenset[int]:
            buried = read_ids(connection, self._sql["bury_topics"], {"ids": sorted(set(ids)), "at": at})
            return self._close_topics(connection, buried, "topic deleted")

        return self._transact(work)

    def remove_texts(self, ids: Sequence[int], reason: str) -> frozenset[int]:
        """Texts, terms, vectors and links go; the rows stay, and may be filled again by what is read later."""
        return self._transact(lambda connection: self._remove(connection, sorted(set(ids)), reason))

    def make_topic_vectors(self) -> None:
        """The mean vector of every topic that has none but whose posts have some."""

        def work(connection: Connection) -> None:
            topics = read_ids(connection, self._sql["topics_without_vector"], {})
            connection.execute(self._sql["hold_topics"], {"ids": topics})
            self._topic_vectors(connection, topics)

        self._transact(work)

    def _write(self, connection: Connection, batch: Batch, admission: Admission) -> Written:
        if not batch.topics:
            return Written()
        topic_ids = sorted({row.topic.id for row in batch.topics})
        category_ids = sorted({c for row in batch.topics if (c := row.topic.category_id) is not None})
        if batch.declared_public:
            connection.execute(self._sql["declare_public"], {"ids": category_ids})
        connection.execute(self._sql["hold_categories"], {"ids": category_ids})
        existed = set(read_ids(connection, self._sql["hold_topics"], {"ids": topic_ids}))
        before = self._topics_now(connection, sorted(existed))
        _copy(connection, self._sql["copy_incoming_topic"], TOPIC_TYPES, (row.values() for row in batch.topics))
        connection.execute(self._sql["put_topics" if batch.complete_topics else "put_topics_of_posts"])
        now = self._topics_now(connection, topic_ids)
        categories = read_categories(connection, self._sql["categories"])
        admission = Admission(
            categories=categories,
            opened=admission.opened,
            chosen=admission.chosen,
            bot_usernames=admission.bot_usernames,
        )
        closed = sorted(one for one, row in now.items() if admission.why_not_topic(read_topic(row)) is not None)
        retitled = [one for one in existed if _head(before[one]) != _head(now[one])]
        _copy(connection, self._sql["copy_incoming"], POST_TYPES, (row.values() for row in batch.posts))
        if retitled:
            but = [row.source.post.id for row in batch.posts]
            connection.execute(self._sql["mark_stale"], {"topics": retitled, "but": but})
        if other := [one for one, head in batch.composed.items() if one in now and _head(now[one]) != head]:
            connection.execute(self._sql["stale_incoming"], {"topics": other})
        if closed:
            self._close_topics(connection, closed, "topic not public")
            connection.execute(self._sql["close_incoming"], {"closed": closed})
        self._hold_posts(connection, [row.source.post.id for row in batch.posts])
        connection.execute(self._sql["keep_dead"])
        applied = connection.execute(self._sql["apply_incoming"]).fetchall()
        links = (
            (row.source.post.id, row.source.post.topic_id, linked, row.source.post.created_at)
            for row in batch.posts
            for linked in sorted(row.links)
        )
        _copy(connection, self._sql["copy_incoming_link"], LINK_TYPES, links)
        _copy(connection, self._sql["copy_incoming_vector"], VECTOR_TYPES, map(_vector, batch.vectors))
        changed = self._settle(connection, applied, batch.model_id)
        stored = frozenset(row[0] for row in applied if row[3])
        return Written(changed=changed, stored=stored, closed_topics=frozenset(closed))

    def _settle(self, connection: Connection, applied: list[tuple[Any, ...]], model_id: int | None) -> frozenset[int]:
        """Everything that hangs on changed rows: vectors, links, topic vectors, statistics. In this order."""
        ids = {"ids": [row[0] for row in applied]}
        if applied:
            connection.execute(
                self._sql["note_changed"],
                {
                    **ids,
                    "topics": [row[1] for row in applied],
                    "inserted": [row[2] for row in applied],
                },
            )
            if connection.execute(self._sql["unseen_before"]).fetchone():
                raise _LostRace
            connection.execute(self._sql["replace_vectors"], ids)
        if model_id is not None:
            self._vectors(connection, model_id)
        if applied:
            connection.execute(self._sql["replace_links"], ids)
            connection.execute(self._sql["put_links"])
            connection.execute(self._sql["put_accepted"])
            moved = connection.execute("SELECT topic_id FROM previous UNION SELECT topic_id FROM changed").fetchall()
            self._topic_vectors(connection, sorted(row[0] for row in moved))
            self._statistics(connection, ids)
        return frozenset(row[0] for row in applied)

    def _vectors(self, connection: Connection, model_id: int) -> None:
        connection.execute(self._sql["put_vectors"], {"model": model_id})
        connection.execute(self._sql["clear_set_aside"], {"model": model_id})
        connection.execute(self._sql["put_set_aside"], {"model": model_id})

    def _topic_vectors(self, connection: Connection, topics: list[int]) -> None:
        connection.execute(self._sql["drop_topic_vectors"], {"topics": topics})
        connection.execute(self._sql["topic_vectors"], {"topics": topics})

    def _statistics(self, connection: Connection, ids: Mapping[str, list[int]]) -> None:
        moved = connection.execute(self._sql["move_statistics"], ids).fetchall()
        if gone := [term for term, df in moved if df <= 0]:
            connection.execute(self._sql["drop_terms"], {"terms": gone})
        connection.execute(self._sql["move_corpus"], ids)

    def _hold_posts(self, connection: Connection, ids: Sequence[int]) -> None:
        connection.execute(self._sql["hold_posts"], {"ids": sorted(ids)})

    def _topics_now(self, connection: Connection, ids: Sequence[int]) -> dict[int, tuple[Any, ...]]:
        rows = connection.execute(self._sql["topics_now"], {"ids": list(ids)}).fetchall()
        return {row[0]: row for row in rows}

    def _close_topics(self, connection: Connection, topics: Sequence[int], reason: str) -> frozenset[int]:
        """A topic that is not public keeps neither title nor texts."""
        if not topics:
            return frozenset()
        connection.execute(self._sql["blank_topics"], {"ids": list(topics)})
        posts = read_ids(connection, self._sql["posts_with_text_of_topics"], {"ids": list(topics)})
        return self._remove(connection, posts, reason)

    def _remove(self, connection: Connection, ids: Sequence[int], reason: str) -> frozenset[int]:
        if not ids:
            return frozenset()
        self._hold_posts(connection, ids)
        for name in ("remove_vectors", "remove_set_aside", "remove_links"):
            connection.execute(self._sql[name], {"ids": list(ids)})
        removed = connection.execute(self._sql["remove_text"], {"ids": list(ids), "reason": reason}).fetchall()
        changed = self._settle(connection, removed, None)
        connection.execute("DELETE FROM previous")
        connection.execute("DELETE FROM changed")
        return changed

    def _transact(self, work: Callable[[Connection], _T]) -> _T:
        for _ in range(_TRIES):
            try:
                with self._database.transaction() as connection:
                    connection.execute(self._sql["store_tables"])
                    return work(connection)
            except (_LostRace, psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure):
                continue
            except psycopg.OperationalError as error:
                raise DatabaseUnavailable(f"The database went away during a write: {_line(error)}") from error
        raise DatabaseUnavailable(f"A batch lost {_TRIES} races against other writers: run the command again.")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def _copy(connection: Connection, statement: LiteralString, types: list[str], rows: Iterable[Any]) -> None:
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(types)
        for row in rows:
            copy.write_row(row)


def _vector(row: VectorRow) -> tuple[object, ...]:
    vector = None if row.vector is None else HalfVector(row.vector)
    return (row.post_id, row.content_hash, vector, row.reason, row.tries)


def _readers(category: Category) -> tuple[bool, frozenset[int]]:
    return category.read_restricted, category.group_ids


def _head(row: tuple[Any, ...]) -> tuple[str, str, tuple[str, ...]]:
    """What a composed text says of its topic."""
    return row[1], row[9], tuple(row[4])
