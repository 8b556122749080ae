"""Takes the words of removed posts out of the stored traces, and has the replies that cite them looked at again."""

from __future__ import annotations

from collections.abc import Collection

from clients.postgres.ledger import Ledger
from clients.postgres.pool import Database
from clients.postgres.queue import Job, Queue

#: The lane of what mends replies that were posted.
CORRECTIONS = "corrections"


def correct_job(post_id: int) -> Job:
    """Look again at the reply to this asking post: a source of it has changed or is gone."""
    key = f"correct:{post_id}"
    return Job(task="correct", lane=CORRECTIONS, args={"post_id": post_id}, lock=key, key=key)


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
            queue.defer(connection, correct_job(ask))
    return len(replies)
