"""Many mentions at once: order, fairness, bounds, and an index that keeps up meanwhile.

THREADCITE_STORM says how many mentions a storm has (default 60).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from forum.types import Answer, Question
from tests.integration.bot.conftest import SECRET, Room, delivery, made_up

STORM = int(os.environ.get("THREADCITE_STORM", "60"))


class Counting:
    """An answer that takes a moment, and knows how many were made at once and in which order."""

    def __init__(self, seconds: float = 0.05) -> None:
        self.order: list[int] = []
        self.most = self._now = 0
        self._seconds, self._lock = seconds, threading.Lock()
        self.go = threading.Event()
        self.go.set()

    def __call__(self, question: Question) -> Answer:
        self.go.wait(60 + STORM)
        with self._lock:
            self.order.append(question.post_id or 0)
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(self._seconds)
        with self._lock:
            self._now -= 1
        return made_up(question)


@contextmanager
def held(room: Room) -> Iterator[Counting]:
    """Answers wait until the block has written its mentions."""
    counting = Counting()
    counting.go.clear()
    room.answer = counting
    try:
        yield counting
    finally:
        counting.go.set()


def test_the_llm_gets_a_bounded_number_at_once(room: Room) -> None:
    with held(room) as counting:
        asked = [room.ask(room.topic().topic_id) for _ in range(12)]
    for post in asked:
        room.ended(post.id)
    assert counting.most <= room.config().bot.llm_concurrency


def test_questions_in_one_topic_are_answered_one_at_a_time_and_in_order(room: Room) -> None:
    with held(room) as counting:
        topic = room.topic().topic_id
        asked = []
        for name in ("gustav", "hexley", "nadia_b"):
            asked.append(room.ask(topic, by=name).id)
            room.until(lambda: room.ledger.load(asked[-1]))
    for post_id in asked:
        room.ended(post_id)
    assert counting.order == asked
    assert counting.most == 1


def test_a_member_with_many_questions_does_not_keep_another_one_waiting(room: Room) -> None:
    with held(room) as counting:
        many = [room.ask(room.topic().topic_id, by="hexley") for _ in range(20)]
        room.until(lambda: all(room.ledger.load(post.id) for post in many))
        other = room.ask(room.topic().topic_id, by="gustav")
        room.until(lambda: room.ledger.load(other.id))
    for post in (*many, other):
        room.ended(post.id)
    assert counting.order.index(other.id) <= 6


@pytest.mark.timeout(120 + 2 * STORM)
def test_a_storm_of_mentions_loses_none_and_does_not_starve_the_index(room: Room) -> None:
    with held(room):
        asked = [room.ask(room.topic().topic_id) for _ in range(STORM)]
        said = room.say(room.topic().topic_id, "The anemometer in the storm spins quite fast.")
        room.until(lambda: room.ledger.public_texts([said.id]), 60)
        assert not any(room.replies(post.topic_id) for post in asked)
    for post in asked:
        room.ended(post.id, 120)
    assert [len(room.replies(post.topic_id)) for post in asked] == [1] * len(asked)


def test_no_connection_is_held_while_the_model_thinks(room: Room, http: httpx.Client) -> None:
    """As many slow answers as the pool has connections, and two."""
    with held(room):
        asked = [room.ask(room.topic().topic_id) for _ in range(18)]
        codes = [http.post(room.hook, **delivery(n, secret=SECRET)).status_code for n in range(50)]
        ready = http.get(room.hook.replace("/webhooks/discourse", "/readyz")).status_code
        with room.database.connection() as connection:
            idle = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND state LIKE 'idle in transaction%' AND state_change < now() - interval '1 second'"
            ).fetchone()
    assert (set(codes), ready, idle) == ({202}, 200, (0,))
    for post in asked:
        room.ended(post.id)
