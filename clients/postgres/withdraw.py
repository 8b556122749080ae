"""Takes the words of removed posts out of stored traces, and has the replies that rest on a change looked at again."""

from __future__ import annotations

from collections.abc import Collection

from clients.postgres.ledger import Ledger
from clients.postgres.pool import Connection, Database
from clients.postgres.queue import Job, Queue

#: The lane of what mends replies that were posted.
CORRECTIONS = "corrections"


def correct_job(post_id: int) -> Job:
    """Look again at the reply to this asking post: a source of it has changed or is gone."""
    key = f"correct:{post_id}"
    return Job(task="correct", lane=CORRECTIONS, args={"post_id": post_id}, lock=key, key=key)


def withdraw(database: Database, post_ids: Collection[int]) -> frozenset[int]:
    """Returns the asking posts whose replies rest on the posts: the worker edits each. Raises DatabaseUnavailable."""
    if not post_ids:
        return frozenset()
    Ledger(database).scrub_sources(sorted(post_ids))
    return look_again(database, posts=post_ids)


def look_again(
    database: Database,
    *,
    posts: Collection[int] = (),
    topics: Collection[int] = (),
    categories: Collection[int] = (),
) -> frozenset[int]:
    """Have the worker look at the replies that cite these posts, or that stand in (or cite a post of) these topics and
    categories: who may read what has changed. Returns their asking posts. Raises DatabaseUnavailable."""
    ledger = Ledger(database)
    replies = set(ledger.resting_on(sorted(posts))) if posts else set[int]()
    if topics:
        replies.update(ledger.concerned_by_topics(topics))
    if categories:
        replies.update(ledger.concerned_by_categories(categories))
    if replies:
        with database.transaction() as connection:
            correct_all(connection, replies)
    return frozenset(replies)


def correct_all(connection: Connection, asks: Collection[int]) -> None:
    """Have the worker look at the replies to these asking posts, in the caller's transaction."""
    queue = Queue()
    for ask in sorted(asks):
        queue.defer(connection, correct_job(ask))
