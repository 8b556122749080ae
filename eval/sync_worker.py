"""A worker for `eval bench sync`: real lanes, ledger and embedder, a forum that takes its time and keeps nothing."""

from __future__ import annotations

import threading
import time

from bot.worker import run_worker
from clients.composition import build_embedder, database_url
from clients.config_file import load_config
from clients.fakes.discourse import AgreeableForum
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Database
from eval.mentions_worker import at_once
from forum.errors import RemoteRefused
from forum.types import SourcePost, Topic

#: What a read of Discourse's API takes on the same machine.
_READ_S = 0.05


class DistantForum(AgreeableForum):
    """Each read takes its time; a post that is asked for is gone, since it is asked about when it was destroyed."""

    def post(self, post_id: int) -> SourcePost:
        time.sleep(_READ_S)
        raise RemoteRefused("gone", service="discourse", status=404)

    def topic(self, topic_id: int) -> Topic:
        time.sleep(_READ_S)
        return super().topic(topic_id)


def main() -> None:
    config = load_config()
    with Database(database_url(), max_size=16) as database:
        ingest = Ingest(database, build_embedder(config.embedder), config)
        run_worker(database, DistantForum(), ingest, at_once, lambda: config, stop=threading.Event())


if __name__ == "__main__":
    main()
