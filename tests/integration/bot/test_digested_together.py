"""What the forum tells at once goes into the index together: the last word about a topic counts, and one bad piece of
news keeps no other from coming in."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from threading import Event
from typing import Any

import pytest

from bot.delivery import read_delivery
from bot.receive import Receiver
from bot.sync import Sync
from clients.fakes.discourse import AgreeableForum
from clients.postgres.ingest import Ingest
from clients.postgres.ledger import Ledger
from clients.postgres.pool import Database
from clients.postgres.queue import Queue
from clients.postgres.receipts import Receipts
from forum.config import Config
from forum.errors import RemoteUnavailable
from forum.ports import Embedder
from forum.types import SourcePost

_AWAY = 404


class Forum(AgreeableForum):
    """It does not answer about one of its topics."""

    def first_post(self, topic_id: int) -> SourcePost | None:
        if topic_id == _AWAY:
            raise RemoteUnavailable("away")
        return super().first_post(topic_id)


class Told:
    """`tell` is a delivery, `digest` the worker's next look."""

    def __init__(self, database: Database, embedder: Embedder) -> None:
        self.database, self.receipts, ledger = database, Receipts(database), Ledger(database)
        self._receiver = Receiver(database, ledger, Queue(), Config)
        ingest = Ingest(database, embedder, Config())
        ingest.put_categories(Forum().categories(), at=datetime.now(UTC))
        self._sync = Sync(
            database,
            ledger,
            ingest,
            Forum(),
            self._receiver,
            is_own=lambda _: False,
            stop=Event(),
        )

    def tell(self, number: int, title: str, event: str = "topic_created", **more: Any) -> None:
        record = {"id": number, "title": title, "category_id": 1, "archetype": "regular", "visible": True, **more}
        self._receiver.take(read_delivery(json.dumps({"topic": record}).encode(), event=event, event_type="topic"))

    def digest(self) -> None:
        self._sync._digest_all(self.receipts.undigested(100))

    def titles(self) -> dict[int, str]:
        with self.database.connection() as connection:
            return dict(connection.execute("SELECT id, title FROM topic").fetchall())


@pytest.fixture
def told(database: Database, embedder: Embedder) -> Told:
    return Told(database, embedder)


def test_many_topics_come_in_with_one_look(told: Told) -> None:
    for n in range(1, 30):
        told.tell(n, f"Topic {n}")
    told.digest()
    assert told.titles() == {n: f"Topic {n}" for n in range(1, 30)}
    assert told.receipts.undigested(10) == []


def test_of_several_words_about_a_topic_the_last_one_counts(told: Told) -> None:
    told.tell(1, "As it was opened")
    told.tell(2, "Another one")
    told.tell(1, "As it was edited", event="topic_edited")
    told.digest()
    assert told.titles() == {1: "As it was edited", 2: "Another one"}


def test_a_bad_one_waits_and_the_others_come_in(told: Told) -> None:
    told.tell(1, "A good one")
    told.tell(_AWAY, "One that the forum must be asked about", event="topic_edited")
    told.tell(3, "Another good one")
    told.digest()
    assert told.titles()[1] == "A good one"
    assert told.titles()[3] == "Another good one"
    with told.database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM receipt WHERE record IS NOT NULL").fetchone() == (1,)
