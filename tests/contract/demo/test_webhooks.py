"""Deliveries are signed and shaped as Discourse's own, and each goes out once."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from demo.runner import PracticeForum

SECRET = "a secret of the forum"
TEXT = "A reply with enough letters in it."
SAMPLES = Path(os.environ.get("SHARED", Path(__file__).parents[4] / "shared")) / "discourse" / "samples"


class Receiver:
    """What the webhook's receiver got: headers and raw body of each delivery."""

    def __init__(self, server: HTTPServer) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.status = 200
        self.url = server.url_for("/hook")
        server.expect_request("/hook").respond_with_handler(self._take)

    def _take(self, request: Request) -> Response:
        self.got.append((dict(request.headers), request.get_data()))
        return Response(status=self.status)

    def wait(self, *names: str) -> list[Any]:
        """The bodies of these events, in the order of arrival, once all are there."""
        for _ in range(200):
            found = [g for g in self.got if g[0]["X-Discourse-Event"] in names]
            if {g[0]["X-Discourse-Event"] for g in found} == set(names):
                return [json.loads(body) for _, body in found]
            time.sleep(0.02)
        raise AssertionError(f"{names} did not arrive, only {[g[0]['X-Discourse-Event'] for g in self.got]}")


@pytest.fixture
def hook(httpserver: HTTPServer, forum: PracticeForum) -> Receiver:
    receiver = Receiver(httpserver)
    forum.add_hook(receiver.url, SECRET)
    return receiver


def test_a_delivery_has_discourses_headers_and_a_signature_over_the_raw_bytes(
    forum: PracticeForum, hook: Receiver, client: Any
) -> None:
    client("mara").post("/posts.json", json={"raw": TEXT + " é", "topic_id": 10})
    hook.wait("post_created")
    headers, body = hook.got[0]
    assert headers["X-Discourse-Event-Signature"] == (
        "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    )
    assert headers["X-Discourse-Instance"] == forum.url
    assert (headers["X-Discourse-Event-Type"], headers["Content-Type"]) == ("post", "application/json")
    assert headers["X-Discourse-Event-Id"].isdecimal()
    assert set(headers) == {
        *("Accept", "Connection", "Content-Length", "Content-Type", "Host", "User-Agent", "X-Discourse-Instance"),
        *("X-Discourse-Event-Id", "X-Discourse-Event-Type", "X-Discourse-Event", "X-Discourse-Event-Signature"),
    }


@pytest.mark.skipif(not SAMPLES.is_dir(), reason=f"{SAMPLES} is not there")
@pytest.mark.parametrize(
    ("sample", "act", "event"),
    [
        ("post_created.2025", ("create_post", {"raw": TEXT, "topic_id": 10}), "post_created"),
        ("post_created.private_message", ("create_post", {"raw": TEXT, "topic_id": 40}), "post_created"),
        ("accepted_solution", ("accept", {"post_id": 105}), "accepted_solution"),
        ("topic_created", ("create_post", {"raw": TEXT, "title": "A new topic of kites"}), "topic_created"),
        ("topic_edited", ("edit_topic", {"topic_id": 10, "title": "Another title of it"}), "topic_edited"),
        ("topic_destroyed", ("delete_topic", {"topic_id": 10}), "topic_destroyed"),
    ],
)
def test_a_payload_has_the_keys_of_a_real_one(
    hook: Receiver, client: Any, sample: str, act: tuple[str, dict[str, Any]], event: str
) -> None:
    done = client().post("/practice/do", json={"do": act[0], "as": "ada", **act[1]})
    assert done.status_code == 200, done.text
    (kind, body), *_ = hook.wait(event)[0].items()
    real_kind, real = next(iter(json.loads((SAMPLES / f"webhook.{sample}.json").read_text())["body"].items()))
    from_plugins = {
        *("akismet_state", "current_user_reaction", "current_user_used_main_reaction", "reaction_users_count"),
        *("reactions", "user_cakedate", "reply_to_user"),
    }
    assert kind == real_kind
    assert set(real) - from_plugins <= set(body)


@pytest.mark.parametrize(
    ("act", "events"),
    [
        (("edit_post", {"post_id": 105, "raw": "Quite another text than before."}), ["post_edited"]),
        (("delete_post", {"post_id": 105}), ["post_destroyed"]),
        (("delete_topic", {"topic_id": 10}), ["topic_destroyed", "post_destroyed"]),
        (("recover_post", {"post_id": 103}), ["post_recovered"]),
        (("set_status", {"topic_id": 10, "status": "closed", "enabled": True}), ["topic_closed_status_updated"]),
        (("like", {"post_id": 100}), ["post_liked", "notification_created"]),
        (("restrict_category", {"category_id": 2, "groups": ["staff"]}), ["category_updated"]),
        (("delete_user", {"user_id": 4}), ["post_destroyed"]),
    ],
)
def test_what_moderators_do_is_told(
    hook: Receiver, client: Any, act: tuple[str, dict[str, Any]], events: list[str]
) -> None:
    assert client().post("/practice/do", json={"do": act[0], "as": "ada", **act[1]}).status_code == 200
    hook.wait(*events)


def test_an_author_who_deletes_is_told_as_an_edit_and_a_deletion(hook: Receiver, client: Any) -> None:
    client("noel").delete("/posts/105.json")
    assert hook.wait("post_edited", "post_destroyed")[0]["post"]["user_deleted"] is True


@pytest.mark.parametrize(
    ("do", "args"),
    [
        ("hide_post", {"post_id": 105}),
        ("move_posts", {"post_ids": [105], "topic_id": 20}),
        ("merge_topic", {"topic_id": 20, "into": 10}),
        ("anonymise", {"user_id": 4}),
    ],
)
def test_what_discourse_does_not_tell_is_not_told(
    forum: PracticeForum, hook: Receiver, client: Any, do: str, args: dict[str, Any]
) -> None:
    assert client().post("/practice/do", json={"do": do, "as": "ada", **args}).status_code == 200
    forum.webhooks.ping()
    hook.wait("ping")
    assert [h["X-Discourse-Event"] for h, _ in hook.got] == ["ping"]


def test_a_redelivery_is_the_same_to_the_byte(forum: PracticeForum, hook: Receiver, client: Any) -> None:
    hook.status = 503
    client("mara").post("/posts.json", json={"raw": TEXT, "topic_id": 10})
    hook.wait("post_created")
    _until(lambda: forum.webhooks.deliveries()[0]["status"] == 503)
    assert client().post("/practice/redeliver", json={}).json() == {"sent": 1}
    _until(lambda: len(hook.got) == 2)
    assert hook.got[0] == hook.got[1]


def test_a_refused_connection_is_not_tried_again(forum: PracticeForum, client: Any) -> None:
    forum.add_hook("http://127.0.0.1:9/hook", SECRET)
    client("mara").post("/posts.json", json={"raw": TEXT, "topic_id": 10})
    _until(lambda: [d["status"] for d in forum.webhooks.deliveries()] == [-1])


def test_a_category_filter_leaves_out_private_messages(
    forum: PracticeForum, httpserver: HTTPServer, client: Any
) -> None:
    hook = Receiver(httpserver)
    forum.add_hook(hook.url, SECRET, category_ids=frozenset({1}))
    client("mara").post("/posts.json", json={"raw": TEXT, "topic_id": 40})
    client("mara").post("/posts.json", json={"raw": TEXT + "!", "topic_id": 10})
    assert [b["post"]["topic_id"] for b in hook.wait("post_created")] == [10]


@pytest.mark.parametrize(("kind", "arrive"), [("drop", 0), ("duplicate", 2)])
def test_a_delivery_can_be_lost_or_doubled(
    forum: PracticeForum, hook: Receiver, client: Any, kind: str, arrive: int
) -> None:
    forum.fail("webhooks", kind)
    client("mara").post("/posts.json", json={"raw": TEXT, "topic_id": 10})
    _until(lambda: forum.webhooks.deliveries()[0]["status"] is not None)
    assert len(hook.got) == arrive


def _until(true: Any) -> None:
    for _ in range(200):
        if true():
            return
        time.sleep(0.02)
    raise AssertionError("it did not come true")
