"""The receiving route on a real database: what is believed, what is kept, what is refused.

THREADCITE_FUZZ says how many payloads (default 200), THREADCITE_ASKING how many asking posts are told of, out of order
and several times over (default 60).
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.web import build_app
from clients.postgres.pool import Database
from clients.secrets import Secret
from forum.config import Config
from tests.integration.bot.conftest import SECRET, delivery, fresh_database, signed

NEW = "the secret after the rotation"
ASKING = int(os.environ.get("THREADCITE_ASKING", "60"))
EXAMPLES = int(os.environ.get("THREADCITE_FUZZ", "200"))
MENTION = '<p><a class="mention" href="/u/threadcite">@threadcite</a> how does it tip?</p>'


@pytest.fixture(scope="module")
def shared_database(postgres_url: str, template_database: str) -> Iterator[Database]:
    with Database(fresh_database(postgres_url, template_database)) as database:
        yield database


@pytest.fixture(scope="module")
def fuzzed(shared_database: Database) -> FlaskClient:
    """Built once: a payload costs a request and no more."""
    return app(shared_database)


def app(database: Database, **webhook: Any) -> FlaskClient:
    config = Config.parse({"webhook": webhook})
    return build_app(database, lambda: config, [Secret(SECRET), Secret(NEW)]).test_client()


def send(client: FlaskClient, content: bytes, headers: dict[str, str]) -> int:
    return client.post("/webhooks/discourse", data=content, headers=headers).status_code


def rows(database: Database, query: str) -> int:
    with database.connection() as connection:
        row = connection.execute(query).fetchone()  # type: ignore[arg-type]
    return int(row[0]) if row else 0


def test_a_signed_delivery_is_kept_with_its_job_under_either_secret(database: Database) -> None:
    client = app(database)
    sent = [delivery(n, secret=secret, cooked=MENTION) for n, secret in enumerate((SECRET, NEW))]
    assert [send(client, **one) for one in sent] == [202, 202]
    assert rows(database, "SELECT count(*) FROM receipt WHERE record IS NOT NULL") == 2
    assert rows(database, "SELECT count(*) FROM procrastinate_jobs WHERE task_name = 'answer'") == 2


@pytest.mark.parametrize("signature", [None, "", "sha256=", "sha256=" + "0" * 64, "sha1=abc", "sha256=\u00e9"])
def test_a_wrong_or_missing_signature_is_401_and_nothing_is_kept(database: Database, signature: str | None) -> None:
    sent = delivery(1)
    sent["headers"].pop("X-Discourse-Event-Signature")
    if signature is not None:
        sent["headers"]["X-Discourse-Event-Signature"] = signature
    assert send(app(database), **sent) == 401
    assert rows(database, "SELECT count(*) FROM receipt") == 0


def test_one_changed_byte_is_a_wrong_signature(database: Database) -> None:
    sent = delivery(1)
    assert send(app(database), sent["content"] + b" ", sent["headers"]) == 401


def test_the_form_content_type_carries_the_same_json(database: Database) -> None:
    sent = delivery(1)
    sent["headers"]["Content-Type"] = "application/x-www-form-urlencoded"
    assert send(app(database), **sent) == 202


def test_a_body_over_the_limit_is_refused(database: Database) -> None:
    sent = signed(b'{"post": "' + b"x" * 4096 + b'"}')
    assert send(app(database, max_body_bytes=2048), **sent) == 413


def test_a_ping_is_answered_and_an_unknown_event_acknowledged(database: Database) -> None:
    client = app(database)
    assert send(client, **signed(b'{"ping": "OK"}', event="ping", kind="ping")) == 200
    assert send(client, **signed(b'{"user": {"id": 1}}', event="user_updated", kind="user")) == 202
    assert rows(database, "SELECT count(*) FROM receipt") == 0


def test_every_real_payload_with_its_real_headers_is_taken_in(database: Database, shared: Path) -> None:
    client = app(database)
    for sample in sorted((shared / "discourse/samples").glob("webhook.*.json")):
        told = json.loads(sample.read_text())
        sent = signed(json.dumps(told["body"]).encode())
        mac = sent["headers"]["X-Discourse-Event-Signature"]
        headers = {**told["headers"], "X-Discourse-Event-Signature": mac}
        headers.pop("Content-Length", None)
        assert send(client, sent["content"], headers) in (200, 202), sample.name


def test_a_replay_does_nothing_twice(database: Database) -> None:
    client, sent = app(database), delivery(1, cooked=MENTION)
    assert [send(client, **sent) for _ in range(3)] == [202] * 3
    assert rows(database, "SELECT count(*) FROM ask") == 1
    assert rows(database, "SELECT count(*) FROM procrastinate_jobs") == 1


def test_shuffled_and_doubled_deliveries_leave_one_row_an_asking_post(shared_database: Database) -> None:
    client, chance = app(shared_database), random.Random(7)
    sent = [
        delivery(n, cooked=MENTION, version=v, updated_at=f"2026-01-01T00:00:0{v}.000Z", event=event)
        for n in range(ASKING)
        for v, event in ((1, "post_created"), (2, "post_edited"), (3, "post_edited"))
    ]
    sent += chance.choices(sent, k=2 * ASKING)
    chance.shuffle(sent)
    assert {send(client, **one) for one in sent} == {202}
    assert rows(shared_database, "SELECT count(*) FROM ask") == ASKING
    assert rows(shared_database, "SELECT count(*) FROM ask WHERE version = 3") == ASKING
    assert rows(shared_database, "SELECT count(*) FROM procrastinate_jobs WHERE task_name = 'answer'") == ASKING


def test_the_text_of_a_private_message_is_not_even_stored(database: Database) -> None:
    sent = delivery(
        1, cooked="<p>my password is tulip</p>", raw="my password is tulip", topic_archetype="private_message"
    )
    assert send(app(database), **sent) == 202
    assert rows(database, "SELECT count(*) FROM receipt WHERE record::text LIKE '%tulip%'") == 0
    assert rows(database, "SELECT count(*) FROM procrastinate_jobs WHERE args::text LIKE '%tulip%'") == 0


def test_lone_surrogates_are_taken_in_and_stored_as_replacement_signs(database: Database) -> None:
    body = (
        rb'{"post":{"id":7,"topic_id":3,"post_number":2,"user_id":8,"username":"hexley","topic_title":"x \udc00",'
        rb'"raw":"smile \ud83d end","cooked":"<p><a class=\"mention\">@threadcite</a> smile \ud83d end</p>"}}'
    )
    assert send(app(database), **signed(body)) == 202
    with database.connection() as connection:
        assert connection.execute("SELECT question, title FROM ask").fetchall() == [("smile \ufffd end", "x \ufffd")]


def test_without_the_database_the_answer_is_503_and_health_stays_local() -> None:
    with Database("postgresql://127.0.0.1:1/nothing", timeout_s=0.3) as database:
        client = app(database)
        assert send(client, **delivery(1)) == 503
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 503


_ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(st.characters(codec=None), max_size=12),
    st.sampled_from(["\x00", "\ud800", "2026-13-45", "9" * 5000, "2026-01-01T00:00:00+99:99"]),
)
_VALUE = st.recursive(
    _ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_KEYS = [
    "id", "topic_id", "post_number", "user_id", "username", "cooked", "raw", "created_at", "updated_at", "version",
    "post_type", "reply_to_post_number", "hidden", "deleted_at", "topic_title", "topic_archetype", "category_id",
    "trust_level", "accepted_answer", "actions_summary", "tags", "visible", "title",
]  # fmt: skip
_EVENTS = [
    "post_created", "post_edited", "post_destroyed", "post_recovered", "topic_created", "topic_edited",
    "topic_destroyed", "topic_recovered", "category_updated", "post_liked", "accepted_solution", "ping", "what_is_this",
]  # fmt: skip


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    event=st.sampled_from(_EVENTS),
    name=st.sampled_from(["post", "topic", "category", "solved", "like", "x"]),
    usual=st.booleans(),
    changes=st.dictionaries(st.sampled_from(_KEYS), _VALUE, max_size=6),
)
def test_no_payload_whatever_brings_the_server_down(
    fuzzed: FlaskClient, event: str, name: str, usual: bool, changes: dict[str, Any]
) -> None:
    record = {"id": 7, "topic_id": 3, "post_number": 2, "username": "hexley", "cooked": MENTION} if usual else {}
    body = json.dumps({name: {**record, **changes}}).encode("utf-8", "surrogatepass")
    status = send(fuzzed, **signed(body, event=event, kind=name))
    assert status in (200, 202, 400)


@settings(max_examples=EXAMPLES, deadline=None)
@given(body=st.binary(max_size=300), event=st.sampled_from([*_EVENTS, "\x00", "x" * 500]))
def test_no_bytes_whatever_bring_the_server_down(fuzzed: FlaskClient, body: bytes, event: str) -> None:
    sent = signed(body)
    sent["headers"]["X-Discourse-Event"] = event.replace("\x00", "%00")
    assert send(fuzzed, **sent) in (200, 202, 400)
