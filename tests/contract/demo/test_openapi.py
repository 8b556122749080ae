"""The practice forum answers in the shapes of Discourse's own API description."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest

SAMPLES = Path(os.environ.get("SHARED", Path(__file__).parents[4] / "shared")) / "discourse" / "samples"
pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason=f"{SAMPLES} is not there")

#: keys that replies and the solved plugin add, and that the description, made from one example, does not list
_ADDED: dict[str, Any] = {
    "reply_to_user": {},
    "accepted_answer": {},
    "topic_accepted_answer": {},
    "hidden_reason_id": {},
    "has_accepted_answer": {},
}


def schema(name: str) -> dict[str, Any]:
    """The response schema of a sample, mended where the description contradicts Discourse's real answers."""
    spec = json.loads((SAMPLES / f"{name}.openapi.json").read_text())["spec"]
    described = next(iter(spec["responses"]["200"]["content"].values()))["schema"]
    mended: dict[str, Any] = _mended(copy.deepcopy(described))
    return mended


def _mended(node: Any) -> Any:
    if isinstance(node, list):
        return [_mended(part) for part in node]
    if not isinstance(node, dict):
        return node
    node = {key: _mended(part) for key, part in node.items()}
    properties = node.get("properties")
    if isinstance(properties, dict):
        if {"title", "cooked"} & set(properties):
            properties.update(_ADDED)
        if "grouped_search_result" in properties:  # described from a search without a hit
            properties["topics"] = {"type": "array"}
        if "reply_to_post_number" in properties:  # described as a string, is a number
            properties["reply_to_post_number"] = {"type": ["integer", "null"]}
        if "can_act" in properties:  # likes have a count wherever they stand
            properties.update({key: {} for key in ("count", "acted", "can_undo")})
        for key in ("image_url", "bookmarked", "liked", "extras"):  # null in the real example beside it
            kind = properties.get(key, {}).get("type")
            if isinstance(kind, str) and kind != "array":
                properties[key] = {"type": [kind, "null"]}
        if "reply_to_user" in node.get("required", []):
            node["required"].remove("reply_to_user")
    return node


CASES = [
    ("posts.get", "/posts.json"),
    ("posts_id.get", "/posts/101.json"),
    ("posts_id_replies.get", "/posts/100/replies.json"),
    ("t_id.get", "/t/10.json"),
    ("t_id.get", "/t/anything/20.json"),
    ("t_id_posts.get", "/t/10/posts.json?post_ids[]=100&post_ids[]=101"),
    ("latest.get", "/latest.json"),
    ("categories.get", "/categories.json?include_subcategories=true"),
    ("c_id_show.get", "/c/1/show.json"),
    ("site.get", "/site.json"),
    ("site_basic-info.get", "/site/basic-info.json"),
    ("search.get", "/search.json?q=bridle"),
    ("u_username.get", "/u/mara.json"),
    ("tags.get", "/tags.json"),
    ("notifications.get", "/notifications.json"),
]


@pytest.mark.parametrize(("name", "path"), CASES)
@pytest.mark.parametrize("reader", ["", "fresh", "threadcite", "ada"])
def test_answers_have_the_described_shape(reading: Any, reader: str, name: str, path: str) -> None:
    if name == "notifications.get" and not reader:
        pytest.skip("needs a member")
    answer = reading(reader).get(path)
    assert answer.status_code == 200
    jsonschema.validate(answer.json(), schema(name))


def test_a_created_post_and_an_edited_one_have_the_described_shape(client: Any) -> None:
    bot = client("threadcite")
    made = bot.post("/posts.json", json={"raw": "A reply with enough letters in it.", "topic_id": 10})
    jsonschema.validate(made.json(), schema("posts.post"))
    changed = bot.put(f"/posts/{made.json()['id']}.json", json={"post": {"raw": "Another text, long enough too."}})
    jsonschema.validate(changed.json(), schema("posts_id.put"))


def test_a_like_has_the_described_shape(client: Any) -> None:
    liked = client("noel").post("/post_actions.json", json={"id": 100, "post_action_type_id": 2})
    jsonschema.validate(liked.json(), schema("post_actions.post"))


def errors() -> dict[str, Any]:
    return dict(json.loads((SAMPLES / "error_shapes.json").read_text()))


@pytest.mark.parametrize(
    ("shape", "fault"),
    [
        ("429_application", "429-json"),
        ("422_create", "422"),
        ("403", "403"),
        ("404", "404"),
        ("409_edit_conflict", "409"),
        ("503_read_only", "503"),
        ("200_enqueued_for_approval", "enqueued"),
    ],
)
def test_failures_have_the_real_shapes(forum: Any, client: Any, shape: str, fault: str) -> None:
    forum.fail("posts.create", fault)
    answer = _post(client("threadcite"))
    real = errors()[shape]["body"]
    assert answer.headers["Content-Type"] == "application/json; charset=utf-8"
    assert set(real) <= set(answer.json())
    assert {k: type(v) for k, v in real.items()} == {k: type(answer.json()[k]) for k in real}


def test_the_middlewares_429_is_plain_text(forum: Any, client: Any) -> None:
    forum.fail("posts.create", "429-text")
    answer = _post(client("threadcite"))
    real = errors()["429_middleware"]["headers"]
    assert answer.status_code == 429
    assert {name: answer.headers[name] for name in real} == real


def _post(client: httpx.Client) -> httpx.Response:
    return client.post("/posts.json", json={"raw": "A reply with enough letters in it.", "topic_id": 10})
