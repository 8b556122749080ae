"""What is not public stays with those who may read it, on every route and every page."""

from __future__ import annotations

from typing import Any

import pytest

SECRET = ["hiddenword", "deletedword", "whisperword", "backroomword", "messageword"]
LISTS = ["/latest.json", "/posts.json", "/site.json", "/categories.json", "/tags.json", "/search.json?q=word", "/"]
DIRECT = [
    *(f"/posts/{n}.json" for n in (102, 103, 104, 300, 400)),
    *(f"/posts/by_number/{t}/{n}.json" for t, n in ((10, 3), (10, 4), (10, 5), (30, 1), (40, 1))),
    *("/t/10.json?include_raw=true", "/t/30.json", "/t/40.json", "/t/10/posts.json?include_raw=true"),
    *("/raw/10", "/raw/10/3", "/raw/10/4", "/raw/30/1", "/raw/40"),
    *("/posts/100/replies.json", "/u/mara.json", "/c/3/show.json", "/c/3.json"),
    *("/t/x/10", "/t/10", "/t/30", "/t/40", "/t/x/10/3", "/c/backroom/3", "/p/300", "/p/400", "/p/103/moderate"),
    *("/p/102/moderate", "/p/104/moderate", "/p/300/moderate", "/p/400/moderate", "/u/ada", "/u/mara", "/t/10/news"),
    *(f"/search?q={word}" for word in SECRET),
]


@pytest.mark.parametrize("reader", ["", "fresh", "threadcite"])
@pytest.mark.parametrize("path", [*LISTS, *DIRECT])
def test_no_route_tells_a_reader_what_is_not_public(reading: Any, path: str, reader: str) -> None:
    if reader == "fresh" and "102" in path:
        pytest.skip("its own author reads a hidden post")
    answer = reading(reader).get(path, follow_redirects=True)
    assert answer.status_code in (200, 403, 404)
    told = answer.text.replace(path.rpartition("=")[2], "") if "search?q" in path else answer.text
    own = reader == "fresh" and "hiddenword"
    assert [w for w in SECRET if w in told and w != own] == []


def test_staff_reads_what_is_hidden_and_deleted(reading: Any) -> None:
    stream = reading("ada").get("/t/10.json?include_raw=true").json()["post_stream"]
    assert stream["stream"] == [100, 101, 102, 103, 104, 105]
    assert "hiddenword" in stream["posts"][2]["raw"]


def test_the_two_of_a_private_message_read_it(reading: Any) -> None:
    assert "door code" in reading("noel").get("/raw/40/1").text


def test_an_unlisted_topic_is_found_by_its_link_only(reading: Any) -> None:
    anybody = reading()
    assert "unlistedword" not in anybody.get("/latest.json").text + anybody.get("/posts.json").text
    assert "unlistedword" in anybody.get("/t/60.json").text


def test_a_category_made_private_is_gone_for_everybody_else(forum: Any, client: Any) -> None:
    forum.forum.restrict_category(forum.forum.store.users[1], 2, ["staff"])
    assert client().get("/t/20.json").status_code == 403
    assert client("ada").get("/t/20.json").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Api-Key": ""},
        {"Api-Key": "", "Api-Username": "ada"},
        {"Api-Key": "wrong", "Api-Username": "ada"},
        {"Api-Key": "practice-admin-key"},
        {"Api-Key": "practice-admin-key", "Api-Username": "nobody"},
        {"Api-Key": "practice-bot-key", "Api-Username": "ada"},
    ],
)
def test_a_key_that_is_not_valid_is_refused_even_for_public_pages(reading: Any, headers: dict[str, str]) -> None:
    answer = reading().get("/latest.json", headers=headers)
    assert (answer.status_code, answer.json()["error_type"]) == (403, "invalid_access")


def test_a_name_without_a_key_is_nobody(reading: Any) -> None:
    assert reading().get("/session/current.json", headers={"Api-Username": "ada"}).status_code == 404


def test_another_host_name_is_refused(reading: Any) -> None:
    assert reading().get("/latest.json", headers={"Host": "evil.example"}).status_code == 421
