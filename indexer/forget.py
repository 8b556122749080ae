"""Forgetting by hand: a post, a topic or all of a user leaves the index for good, and whatever rests on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from clients.postgres.ingest import Ingest
from clients.postgres.ledger import Ledger
from clients.postgres.pool import Database
from clients.postgres.stored_posts import FOR_EVER
from clients.postgres.withdraw import withdraw

Kind = Literal["user", "post", "topic"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgotten:
    """What a run removed."""

    posts: int
    vectors: int
    terms: int
    questions: int
    replies_to_correct: int


def forget(kind: Kind, number: int, ingest: Ingest, database: Database) -> Forgotten:
    """Remove texts, vectors and statistics of the posts, their words in traces, and a user's own questions.

    Nothing that the forum tells later brings them back. Raises DatabaseUnavailable.
    """
    ids = {
        "post": lambda: [number],
        "topic": lambda: ingest.store.posts_of_topic(number),
        "user": lambda: ingest.store.posts_of_user(number),
    }[kind]()
    terms, vectors = _counts(database)
    gone = ingest.destroy_posts(ids, at=FOR_EVER)
    if kind == "topic":
        gone |= ingest.destroy_topics([number], at=FOR_EVER)
    with database.transaction() as connection:
        asked = list(ids)
        if kind == "user":
            rows = connection.execute("SELECT post_id FROM ask WHERE user_id = %s", (number,)).fetchall()
            asked += [row[0] for row in rows]
        Ledger(database).scrub_question(connection, asked)
        questions = connection.execute(
            "UPDATE ask SET username = '' WHERE post_id = ANY (%s) RETURNING 1", (asked,)
        ).rowcount
    terms_left, vectors_left = _counts(database)
    return Forgotten(
        posts=len(gone),
        vectors=vectors - vectors_left,
        terms=terms - terms_left,
        questions=questions,
        replies_to_correct=len(withdraw(database, ids)),
    )


def _counts(database: Database) -> tuple[int, int]:
    with database.connection() as connection:
        row = connection.execute("SELECT (SELECT count(*) FROM term), (SELECT count(*) FROM embedding)").fetchone()
    return (row[0], row[1]) if row else (0, 0)
