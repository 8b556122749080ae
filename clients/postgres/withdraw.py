"""Takes the words of removed posts out of the stored traces, and has the replies that cite them looked at again."""

from __future__ import annotations

from collections.abc import Collection

from clients.postgres.ledger import Ledger
from clients.postgres.pool import Database
from clients.postgres.queue import Job, Queue


def withdraw(database: Database, post_ids: Collection[int]) -> int:
    """Returns how many replies rest on the posts: the worker edits each. Raises DatabaseUnavailable."""
    ids = sorted(post_ids)
    if not ids:
        return 0
    ledger, queue = Ledger(database), Queue()
    ledger.scrub_sources(ids)
    replies = ledger.resting_on(ids)
    with database.transaction() as connection:
        for ask in replies:
            key = f"correct:{ask}"
            queue.defer(connection, Job(task="correct", lane="corrections", args={"post_id": ask}, lock=key, key=key))
    return len(replies)
