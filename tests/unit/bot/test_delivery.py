"""A delivery read: every real sample goes through, the same news has the same key, rubbish is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.delivery import Delivery, Happened, read_delivery


def read(content: Any, event: str = "post_created", **more: Any) -> Delivery:
    return read_delivery(json.dumps(content).encode(), event=event, event_type=event.split("_")[0], **more)


def post(**changes: Any) -> dict[str, Any]:
    record = {"id": 7, "topic_id": 3, "post_number": 2, "version": 1, "updated_at": "2026-01-01T00:00:00.000Z"}
    return {"post": {**record, **changes}}


def test_every_sample_of_a_webhook_is_understood(shared: Path) -> None:
    samples = sorted((shared / "discourse/samples").glob("webhook.*.json"))
    assert len(samples) >= 10
    for sample in samples:
        told = json.loads(sample.read_text())
        headers = told.get("headers", {})
        read_delivery(
            json.dumps(told["body"]).encode(),
            event=headers.get("X-Discourse-Event"),
            event_type=headers.get("X-Discourse-Event-Type"),
            event_id=headers.get("X-Discourse-Event-Id"),
        )


@pytest.mark.parametrize(
    ("event", "happened"),
    [
        ("post_created", Happened.POST_WRITTEN),
        ("post_edited", Happened.POST_EDITED),
        ("post_destroyed", Happened.POST_GONE),
        ("post_recovered", Happened.POST_BACK),
        ("accepted_solution", Happened.SOLVED),
        ("solved_accepted_solution", Happened.SOLVED),
        ("chat_message_created", Happened.UNKNOWN),
        ("user_updated", Happened.UNKNOWN),
        ("something_of_2031", Happened.UNKNOWN),
    ],
)
def test_names_old_and_new_mean_what_they_say(event: str, happened: Happened) -> None:
    assert read(post(), event).happened is happened


@pytest.mark.parametrize("name", ["post_liked", "like_created"])
def test_both_names_of_a_like_tell_who_liked_what(name: str) -> None:
    like = {"like": {**post(), "user": {"id": 9}}}
    delivery = read(like, name)
    assert (delivery.happened, delivery.record["liked_by"]) == (Happened.LIKED, 9)


@pytest.mark.parametrize("name", ["topic_closed_status_updated", "topic_visible_status_updated", "topic_edited"])
def test_a_change_of_status_is_a_change_of_the_topic(name: str) -> None:
    assert read({"topic": {"id": 3, "title": "T"}}, name).happened is Happened.TOPIC_CHANGED


def test_a_ping_is_a_ping_with_and_without_its_name() -> None:
    assert read({"ping": "OK"}, "ping").happened is Happened.PING
    assert read_delivery(b'{"ping": "OK"}', event=None, event_type=None).happened is Happened.PING


def test_the_same_news_has_one_key_whatever_the_event_id_and_the_counters_say() -> None:
    first, again = read(post(reads=1), event_id="1"), read(post(reads=2), event_id="2")
    assert first.key == again.key


def test_a_time_is_the_same_however_it_is_written() -> None:
    assert read(post()).key == read(post(updated_at="2026-01-01T00:00:00Z")).key


@pytest.mark.parametrize("change", [{"version": 2}, {"updated_at": "2026-01-02T00:00:00.000Z"}, {"id": 8}])
def test_other_news_has_another_key(change: dict[str, Any]) -> None:
    assert read(post()).key != read(post(**change)).key


def test_a_second_deletion_is_news() -> None:
    first = read(post(deleted_at="2026-01-01T00:00:00Z"), "post_destroyed")
    second = read(post(deleted_at="2026-01-02T00:00:00Z"), "post_destroyed")
    assert first.key != second.key


def test_lone_surrogates_and_nul_become_storable_text() -> None:
    body = rb'{"post":{"id":7,"topic_id":3,"post_number":2,"cooked":"smile \ud83d end\u0000","topic_title":"x \udc00"}}'
    record = read_delivery(body, event="post_created", event_type="post").record
    assert record["cooked"].replace("\ufffd", "?") == "smile ? end"
    assert record["topic_title"].encode()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"7",
        b"\xff\xfe",
        b'{"post": [1]}',
        b'{"post": {}}',
        b'{"post": {"id": "7", "topic_id": 3, "post_number": 2}}',
        b'{"post": {"id": 7, "topic_id": 3}}',
        b'{"post": {"id": 99999999999999999999999, "topic_id": 3, "post_number": 2}}',
        b'{"post": {"id": NaN, "topic_id": 3, "post_number": 2}}',
        b"[" * 200_000,
        b'{"a":' * 200_000,
    ],
)
def test_rubbish_is_a_value_error(body: bytes) -> None:
    with pytest.raises(ValueError):
        read_delivery(body, event="post_created", event_type="post")
