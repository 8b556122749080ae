"""The practice forum fails when, how and as often as it is told."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from demo.faults import KINDS
from demo.runner import PracticeForum

TEXT = "A reply with enough letters in it."
BODY = {"raw": TEXT, "topic_id": 10}


def stored(client: Any) -> int:
    return str(client().get("/raw/10").text).count(TEXT)


@pytest.mark.parametrize(
    ("kind", "status", "kept"),
    [
        *(("500", 500, 0), ("502", 502, 0), ("503", 503, 0), ("403", 403, 0), ("404", 404, 0), ("409", 409, 0)),
        *(("422", 422, 0), ("429-json", 429, 0), ("429-text", 429, 0), ("500-after-store", 500, 1)),
        *(("broken-json", 200, 0), ("html", 200, 0), ("enqueued", 200, 0)),
    ],
)
def test_an_answer_of_a_kind_once(forum: PracticeForum, client: Any, kind: str, status: int, kept: int) -> None:
    forum.fail("posts.create", kind)
    bot = client("threadcite")
    assert bot.post("/posts.json", json=BODY).status_code == status
    assert stored(client) == kept
    assert bot.get("/latest.json").status_code == 200


@pytest.mark.parametrize(
    ("kind", "kept"), [("refuse", 0), ("hang", 0), ("drop-after-store", 1), ("hang-after-store", 1)]
)
def test_no_answer_at_all(forum: PracticeForum, client: Any, kind: str, kept: int) -> None:
    forum.fail("posts.create", kind, params={"seconds": 0.2})
    with pytest.raises(httpx.TransportError):
        client("threadcite").post("/posts.json", json=BODY)
    assert stored(client) == kept


def test_a_silent_forum_lets_the_caller_time_out(forum: PracticeForum, client: Any) -> None:
    forum.fail("posts.create", "hang", params={"seconds": 30})
    with pytest.raises(httpx.ReadTimeout):
        client("threadcite").post("/posts.json", json=BODY, timeout=0.3)


def test_the_same_post_again_after_a_500_that_had_stored_it_is_one_post(forum: PracticeForum, client: Any) -> None:
    forum.fail("posts.create", "500-after-store")
    bot = client("threadcite")
    bot.post("/posts.json", json=BODY)
    assert bot.post("/posts.json", json=BODY).status_code == 200
    assert stored(client) == 1


@pytest.mark.parametrize(
    ("params", "header", "body"),
    [
        ({"retry_after": "Wed, 01 Jan 2020 00:00:00 GMT"}, "Wed, 01 Jan 2020 00:00:00 GMT", ""),
        ({"retry_after": "999999", "body": [], "content_type": "application/json"}, "999999", "[]"),
        ({"body": "<html>slow down</html>"}, None, "<html>slow down</html>"),
    ],
)
def test_a_429_that_nobody_expected(
    forum: PracticeForum, client: Any, params: dict[str, Any], header: str | None, body: str
) -> None:
    forum.fail("posts.create", "429-weird", params=params)
    answer = client("threadcite").post("/posts.json", json=BODY)
    assert (answer.status_code, answer.headers.get("Retry-After"), answer.text) == (429, header, body)
    assert answer.headers.get("Content-Type") == params.get("content_type")


@pytest.mark.parametrize(
    ("of", "raw"),
    [
        ("links", "[a](/t/x/10) [b](/t/x/20) [c](/t/x/50) and some words"),
        ("mentions", "@mara @noel @ada and some words"),
        ("images", "![a](/a.png) ![b](/b.png) ![c](/c.png) and some words"),
    ],
)
def test_a_new_account_may_not_put_that_many(forum: PracticeForum, client: Any, of: str, raw: str) -> None:
    forum.fail("posts.create", "422-new-user-links", count=-1, params={"of": of})
    bot = client("threadcite")
    refused = bot.post("/posts.json", json={"raw": raw, "topic_id": 10})
    assert (refused.status_code, refused.json()["action"]) == (422, "create_post")
    assert "new users can only" in refused.json()["errors"][0]
    assert bot.post("/posts.json", json=BODY).status_code == 200


def test_count_skip_and_member_choose_who_fails(forum: PracticeForum, client: Any) -> None:
    forum.fail("topics.latest", "500", count=2, skip=1, user="mara")
    assert [client("mara").get("/latest.json").status_code for _ in range(4)] == [200, 500, 500, 200]
    assert client("noel").get("/latest.json").status_code == 200


def test_faults_are_set_read_and_cleared_over_http(client: Any) -> None:
    anybody = client()
    assert anybody.post("/practice/faults", json={"route": "*", "kind": "503", "count": -1}).status_code == 200
    assert anybody.get("/site.json").status_code == 503
    listing = anybody.get("/practice/faults").json()
    assert (listing["faults"][0]["fired"], listing["kinds"]) == (1, KINDS)
    anybody.delete("/practice/faults")
    assert anybody.get("/site.json").status_code == 200


@pytest.mark.parametrize("wish", [{"kind": "nonsense"}, {"route": "x", "kind": "500"}, {"kind": "500", "often": 1}])
def test_an_unknown_wish_is_refused_by_name(client: Any, wish: dict[str, Any]) -> None:
    answer = client().post("/practice/faults", json=wish)
    assert answer.status_code == 400
    assert "unknown" in answer.json()["errors"][0]


def test_a_form_of_another_page_cannot_tell_it_to_fail(client: Any) -> None:
    assert client().post("/practice/faults", data={"kind": "500"}).status_code == 400
