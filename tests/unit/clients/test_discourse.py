"""What each answer of Discourse means to the client: wait, look before trying again, or give up with a reason."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest

from clients.discourse import DiscourseClient
from clients.secrets import Secret
from forum.config import ForumSection
from forum.errors import OutcomeUnknown, RemoteRefused, RemoteUnavailable

POST = {"id": 7, "topic_id": 3, "post_number": 2, "username": "threadcite", "cooked": "", "created_at": "2026-01-01"}


class Forum:
    """Answers with what it is given, in order; the last answer stays. Remembers the requests."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers, self.requests = list(answers), list[httpx.Request]()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def client(*answers: httpx.Response | Exception, key: str = "k", **settings: Any) -> tuple[DiscourseClient, Forum]:
    forum = Forum(*answers)
    section = ForumSection(base_url="http://forum.example", requests_per_minute=100_000, **settings)
    return DiscourseClient(section, key=Secret(key), transport=httpx.MockTransport(forum), attempts=1), forum


def post(discourse: DiscourseClient) -> Any:
    return discourse.create_post(topic_id=3, raw="The answer.", reply_to_post_number=1)


def test_a_reply_is_one_request_with_key_name_and_place() -> None:
    discourse, forum = client(httpx.Response(200, json=POST))
    assert post(discourse).post.id == 7
    (request,) = forum.requests
    assert (request.headers["Api-Key"], request.headers["Api-Username"]) == ("k", "threadcite")
    assert json.loads(request.content)["reply_to_post_number"] == 1


@pytest.mark.parametrize("key", [None, Secret("")])
def test_without_a_key_no_credentials_are_sent_at_all(key: Secret | None) -> None:
    forum = Forum(httpx.Response(200, json=POST))
    DiscourseClient(ForumSection(), key=key, transport=httpx.MockTransport(forum)).post(7)
    assert not {"api-key", "api-username"} & set(forum.requests[0].headers)


def test_a_post_that_waits_for_approval_is_no_failure() -> None:
    discourse, _ = client(httpx.Response(200, json={"action": "enqueued", "success": True, "pending_count": 1}))
    created = post(discourse)
    assert (created.post, created.enqueued) == (None, True)


@pytest.mark.parametrize(
    ("headers", "body", "least", "most"),
    [
        ({}, b"", 5, 5),
        ({"Content-Type": "text/html"}, b"<html>busy</html>", 5, 5),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, b"", 1, 1),
        ({"Retry-After": "1.5"}, b"", 1.5, 1.5),
        ({"Retry-After": "0"}, b"", 1, 1),
        ({"Retry-After": "-5"}, b"", 1, 1),
        ({"Retry-After": "abc"}, b"", 5, 5),
        ({"Retry-After": "nan"}, b"", 5, 5),
        ({"Retry-After": "inf"}, b"", 900, 900),
        ({"Retry-After": "999999"}, b"", 900, 900),
        ({"Content-Type": "application/json"}, b"[]", 5, 5),
        ({"Content-Type": "application/json"}, b'{"extras": {"wait_seconds": 12}}', 12, 12),
        ({"Content-Type": "application/json"}, b'{"extras": []}', 5, 5),
        ({"Content-Type": "text/plain", "Retry-After": "9"}, b"Slow down, too many requests", 9, 9),
    ],
)
def test_a_throttle_in_any_form_is_a_wait_within_bounds(
    headers: dict[str, str], body: bytes, least: float, most: float
) -> None:
    discourse, _ = client(httpx.Response(429, headers=headers, content=body))
    with pytest.raises(RemoteUnavailable) as waits:
        post(discourse)
    assert not isinstance(waits.value, OutcomeUnknown)
    assert least <= (waits.value.retry_after_s or 0) <= most


def test_a_date_to_come_is_a_wait_until_then() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=300), usegmt=True)
    discourse, _ = client(httpx.Response(429, headers={"Retry-After": soon}))
    with pytest.raises(RemoteUnavailable) as waits:
        post(discourse)
    assert 200 <= (waits.value.retry_after_s or 0) <= 300


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(500),
        httpx.Response(502, text="<html>"),
        httpx.Response(503, json={"errors": ["x"], "error_type": "read_only"}),
        httpx.Response(200, text="<html>proxy</html>"),
        httpx.Response(200, content=b'{"id": 7, "top'),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={"id": "seven"}),
        httpx.ReadTimeout("late"),
        httpx.RemoteProtocolError("cut off"),
        httpx.ReadError("reset"),
        httpx.WriteError("reset"),
    ],
)
def test_a_write_without_a_usable_answer_may_have_been_carried_out(answer: httpx.Response | Exception) -> None:
    discourse, forum = client(answer)
    with pytest.raises(OutcomeUnknown):
        post(discourse)
    assert len(forum.requests) == 1


@pytest.mark.parametrize("error", [httpx.ConnectError("refused"), httpx.ConnectTimeout("late")])
def test_a_write_that_never_left_is_certainly_not_carried_out(error: Exception) -> None:
    discourse, _ = client(error)
    with pytest.raises(RemoteUnavailable) as failed:
        post(discourse)
    assert not isinstance(failed.value, OutcomeUnknown)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "refused"),
        (401, "check the API key"),
        (403, "check the API key"),
        (404, "deleted, or not visible"),
        (409, "same time"),
        (413, "refused"),
        (422, "Body is too short"),
        (301, "forum.base_url"),
    ],
)
def test_a_refusal_is_one_line_for_the_operator(status: int, said: str) -> None:
    body = {"errors": ["Body is too short\nreally"], "error_type": "x"}
    discourse, _ = client(httpx.Response(status, json=body))
    with pytest.raises(RemoteRefused) as refused:
        post(discourse)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_key_never_stands_in_an_error() -> None:
    discourse, _ = client(httpx.Response(403, text="no"), key="very-secret")
    with pytest.raises(RemoteRefused) as refused:
        post(discourse)
    assert "very-secret" not in str(refused.value) + repr(refused.value.__cause__)


def test_a_read_is_tried_again_and_a_write_is_not() -> None:
    forum = Forum(httpx.Response(500), httpx.Response(200, json=POST))
    discourse = DiscourseClient(ForumSection(), transport=httpx.MockTransport(forum), attempts=2)
    assert discourse.post(7).post.id == 7
    assert len(forum.requests) == 2


def test_a_topic_is_read_in_chunks_and_in_the_order_of_its_stream() -> None:
    def page(request: httpx.Request) -> httpx.Response:
        ids = request.url.params.get_list("post_ids[]") or ["1"]
        posts = [{**POST, "id": int(one), "post_number": int(one)} for one in reversed(ids)]
        stream = {"posts": posts, "stream": list(range(1, 46))}
        return httpx.Response(200, json={"id": 3, "title": "T", "visible": False, "post_stream": stream})

    discourse = DiscourseClient(ForumSection(requests_per_minute=9_999), transport=httpx.MockTransport(page))
    found = discourse.topic_posts(3)
    assert [one.post.id for one in found] == list(range(1, 46))
    assert not found[0].topic.visible


def test_replies_are_read_page_by_page() -> None:
    def page(request: httpx.Request) -> httpx.Response:
        after = int(request.url.params.get("after", "1"))
        return httpx.Response(
            200, json=[{**POST, "id": n, "post_number": n} for n in range(after + 1, after + 21) if n < 30]
        )

    discourse = DiscourseClient(ForumSection(), transport=httpx.MockTransport(page))
    assert [one.post_number for one in discourse.replies(7)] == list(range(2, 30))


def test_the_shapes_of_the_samples_are_understood(shared: Any) -> None:
    samples = json.loads((shared / "discourse/samples/error_shapes.json").read_text())
    for name, sample in samples.items():
        if not isinstance(sample, dict):
            continue
        status = int(name.split("_")[0])
        body = sample["body"]
        content = body if isinstance(body, str) else json.dumps(body)
        discourse, _ = client(httpx.Response(status, headers=sample.get("headers", {}), content=content))
        if status == 200:
            assert post(discourse).enqueued
        else:
            with pytest.raises((RemoteUnavailable, RemoteRefused)):
                post(discourse)
