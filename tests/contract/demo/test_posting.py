"""Posting, editing and deleting by the API follow Discourse's rules."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from demo.runner import ADMIN_KEY, PracticeForum

TEXT = "A reply with enough letters in it."


def post(client: Any, raw: str = TEXT, **more: Any) -> Any:
    return client.post("/posts.json", json={"raw": raw, "topic_id": 10, **more})


def test_form_and_json_are_both_taken(client: Any) -> None:
    made = client("mara").post("/posts.json", data={"raw": TEXT, "topic_id": "10", "reply_to_post_number": "1"})
    assert made.json()["reply_to_post_number"] == 1


@pytest.mark.parametrize(
    ("raw", "status", "words"),
    [
        ("", 400, "raw"),
        ("too short", 422, "too short"),
        ("x" * 32_001, 422, "limited to 32000"),
        ("@ada @mara @noel @fresh " * 3, 422, "mention"),
    ],
)
def test_texts_that_are_refused(client: Any, raw: str, status: int, words: str) -> None:
    answer = post(client("noel"), raw)
    assert answer.status_code == status
    assert words in answer.json()["errors"][0]


def test_new_members_may_put_two_links(client: Any) -> None:
    answer = post(client("fresh"), "See https://a.example https://b.example and https://c.example please")
    assert answer.json() == {
        "action": "create_post",
        "errors": ["Sorry, new users can only put 2 links in a post."],
    }


def test_the_same_text_again_is_too_similar(client: Any) -> None:
    post(client("mara"))
    again = post(client("mara"), TEXT + " ", reply_to_post_number=1)
    assert again.status_code == 422
    assert "similar" in again.json()["errors"][0]


def test_an_identical_request_within_two_minutes_gets_the_first_answer(client: Any) -> None:
    mara = client("mara")
    assert post(mara).json()["id"] == post(mara).json()["id"]
    assert post(mara, "short").json() == post(mara, "short").json()


def test_a_closed_topic_takes_no_reply(client: Any) -> None:
    answer = client("mara").post("/posts.json", json={"raw": TEXT, "topic_id": 50})
    assert (answer.status_code, answer.json()["action"]) == (422, "create_post")


@pytest.mark.parametrize("topic_id", [30, 40, 999])
def test_a_topic_that_one_cannot_see_takes_no_reply(client: Any, topic_id: int) -> None:
    assert client("fresh").post("/posts.json", json={"raw": TEXT, "topic_id": topic_id}).status_code == 422


def test_three_replies_in_a_row_are_the_most(client: Any) -> None:
    mara = client("threadcite")
    answers = [post(mara, f"{TEXT} Number {n}.") for n in range(4)]
    assert [a.status_code for a in answers] == [200, 200, 200, 422]
    assert "consecutive" in answers[3].json()["errors"][0]


def test_a_whisper_is_for_staff_only(client: Any) -> None:
    assert post(client("mara"), whisper=True).status_code == 403
    assert post(client("ada"), whisper=True).json()["post_type"] == 4


def test_a_private_message_is_read_by_its_readers(client: Any) -> None:
    made = client("mara").post(
        "/posts.json",
        json={"raw": TEXT, "title": "A word in private", "archetype": "private_message", "target_recipients": "noel"},
    )
    where = f"/t/{made.json()['topic_id']}.json"
    assert client("noel").get(where).json()["archetype"] == "private_message"
    assert client("fresh").get(where).status_code == 403


def test_an_edit_of_a_text_that_has_changed_meanwhile_is_a_conflict(client: Any) -> None:
    change = {"post": {"raw": "The new text of this post.", "original_text": "something else"}}
    assert client("mara").put("/posts/100.json", json=change).status_code == 409


def test_only_the_author_and_staff_edit(client: Any) -> None:
    change = {"post[raw]": "The new text of this post."}
    assert client("noel").put("/posts/100.json", data=change).status_code == 403
    assert client("ada").put("/posts/100.json", data=change).json()["post"]["version"] == 2


def test_a_small_edit_right_after_posting_makes_no_version(client: Any) -> None:
    mara = client("mara")
    made = post(mara).json()
    changed = mara.put(f"/posts/{made['id']}.json", json={"post": {"raw": TEXT + " Now."}}).json()["post"]
    assert (changed["version"], changed["raw"]) == (1, TEXT + " Now.")


def test_an_author_who_deletes_leaves_a_stub(client: Any) -> None:
    noel = client("noel")
    noel.delete("/posts/105.json")
    left = noel.get("/posts/105.json").json()
    assert (left["user_deleted"], left["deleted_at"], left["raw"]) == (True, None, "(post deleted by author)")
    assert "twice" in noel.put("/posts/105/recover.json").json()["raw"]


def test_staff_deletes_for_good_and_can_recover(client: Any) -> None:
    client("ada").delete("/posts/105.json")
    assert client("mara").get("/posts/105.json").status_code == 404
    client("ada").put("/posts/105/recover.json")
    assert client("mara").get("/posts/105.json").status_code == 200


def test_posts_that_wait_are_not_there_until_approved(client: Any, forum: Any) -> None:
    forum.fail("posts.create", "enqueued")
    waiting = post(client("threadcite")).json()
    assert waiting["action"] == "enqueued"
    assert TEXT not in client().get("/raw/10").text
    approved = client().post("/practice/approve", json={}).json()["approved"]
    assert [p["username"] for p in approved] == ["threadcite"]
    assert TEXT in client().get("/raw/10").text


def test_a_lone_surrogate_and_a_nul_become_replacement_characters(client: Any) -> None:
    body = b'{"raw":"smile \\ud83d end \\u0000 of the text","topic_id":10}'
    made = client("mara").post("/posts.json", content=body, headers={"Content-Type": "application/json"})
    assert made.json()["raw"] == "smile \ufffd end \ufffd of the text"


@pytest.mark.parametrize(
    "body", [b"[]", b"{", b"null", b'{"raw":{}}', b'{"raw":"' + TEXT.encode() + b'","topic_id":1e400}']
)
def test_odd_bodies_are_refused_not_tripped_over(client: Any, body: bytes) -> None:
    answer = client("mara").post("/posts.json", content=body, headers={"Content-Type": "application/json"})
    assert 400 <= answer.status_code < 500


def test_mentions_and_replies_are_notified_once(client: Any) -> None:
    post(client("noel"), "Hello @mara, do you still fly your delta?", reply_to_post_number=1)
    notices = client("mara").get("/notifications.json").json()["notifications"]
    assert [(n["notification_type"], n["data"]["display_username"]) for n in notices] == [(1, "noel")]


@pytest.mark.parametrize(
    "raw",
    [
        "`@mara` in code is nothing for her",
        '[quote="noel, post:1"]\n@mara said so\n[/quote]\n\nmy own words',
        "mail x@mara.example",
    ],
)
def test_a_mention_in_code_or_in_a_quote_notifies_nobody(client: Any, raw: str) -> None:
    post(client("noel"), raw)
    assert client("mara").get("/notifications.json").json()["notifications"] == []


def test_a_key_has_a_limit_a_minute_when_set(client: Any, forum: Any) -> None:
    client().put("/practice/settings", json={"max_admin_api_reqs_per_minute": 2})
    answers = [client("mara").get("/latest.json") for _ in range(3)]
    assert [a.status_code for a in answers] == [200, 200, 429]
    assert answers[2].headers["Discourse-Rate-Limit-Error-Code"] == "admin_api_key_rate_limit"


def test_the_memo_ends_after_two_minutes_and_the_unique_check_after_five() -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    with PracticeForum(content=Path(__file__).parent / "content", clock=lambda: now[0]) as forum:
        headers = {"Api-Key": ADMIN_KEY, "Api-Username": "mara"}
        with httpx.Client(base_url=forum.url, headers=headers, trust_env=False) as mara:
            first = post(mara).json()["id"]
            now[0] += timedelta(seconds=121)
            assert post(mara).status_code == 422
            now[0] += timedelta(seconds=301)
            assert post(mara).json()["id"] > first


def test_members_below_a_trust_level_wait_when_set(client: Any) -> None:
    client().put("/practice/settings", json={"approve_unless_trust_level": 2})
    assert post(client("noel")).json()["action"] == "enqueued"
