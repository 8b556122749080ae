"""The practice forum and its question sets are whole: ids, references, counts, secrets, dates."""

import json
import re
from collections import Counter
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[3]
FORUM = ROOT / "demo" / "forum"
QUESTIONS = ROOT / "eval" / "questions"
TOKEN = re.compile(r"SECRET-[a-z-]+-\d{4}")
QUOTE = re.compile(r'\[quote="(\w+), post:(\d+), topic:(\d+)"\]')
LINK = re.compile(r"(?<![\w.])/t/([a-z0-9-]+)/(\d+)(?:/(\d+))?")
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

Node = dict[str, Any]


@cache
def forum() -> Node:
    loaded: Node = yaml.safe_load((FORUM / "forum.yml").read_text("utf-8"))
    return loaded


@cache
def topics() -> dict[int, Node]:
    files = sorted((FORUM / "topics").glob("*.yml"))
    read: list[Node] = [yaml.safe_load(f.read_text("utf-8")) for f in files]
    assert [f"{t['id']:03d}-{t['slug']}.yml" for t in read] == [f.name for f in files]
    assert len({t["id"] for t in read}) == len(read)
    return {t["id"]: t for t in read}


def posts() -> list[tuple[Node, int, Node]]:
    return [(t, n, p) for t in topics().values() for n, p in enumerate(t["posts"], 1)]


def is_public(topic: Node, post: Node) -> bool:
    closed_rooms = {c["slug"] for c in forum()["categories"] if c["read_restricted"]}
    return (
        topic["archetype"] == "regular"
        and topic["visible"]
        and topic["category"] not in closed_rooms
        and not any(post.get(k) for k in ("hidden", "deleted", "user_deleted", "whisper"))
    )


def questions(name: str) -> list[Node]:
    lines = (QUESTIONS / name).read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def when(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


def test_the_forum_is_large_enough_and_mixes_its_languages() -> None:
    languages = Counter(t["lang"] for t in topics().values())
    assert len(topics()) >= 64
    assert len(posts()) >= 330
    assert languages["fr"] >= len(topics()) / 3
    assert languages["en"] >= len(topics()) * 0.45
    assert sum(bool(p.get("accepted")) for _, _, p in posts()) >= 25
    assert max(len(t["posts"]) for t in topics().values()) >= 100


def test_every_kind_of_unreadable_post_occurs() -> None:
    assert any(t["archetype"] == "private_message" for t in topics().values())
    assert any(not t["visible"] for t in topics().values())
    for kind in ("hidden", "deleted", "user_deleted", "whisper"):
        assert any(p.get(kind) for _, _, p in posts()), kind
    rooms = Counter(t["category"] for t in topics().values())
    assert rooms["staff"] >= 2
    assert rooms["beta-lab"] >= 1


def test_ids_are_unique_and_rise_with_time() -> None:
    ordered = sorted((p["at"], p["id"]) for _, _, p in posts())
    ids = [i for _, i in ordered]
    assert len(set(ids)) == len(ids)
    assert ids == sorted(ids)


def test_people_groups_and_categories_resolve() -> None:
    people = {u["username"]: u for u in forum()["users"]}
    groups = {g["name"] for g in forum()["groups"]}
    rooms = {c["slug"] for c in forum()["categories"]}
    assert len({u["id"] for u in people.values()}) == len(forum()["users"])
    assert forum()["bot"] in people
    assert all(set(u.get("groups", [])) <= groups for u in people.values())
    assert all(set(c["groups"]) <= groups for c in forum()["categories"])
    assert all(c.get("parent", c["slug"]) in rooms for c in forum()["categories"])
    assert all(p["user"] in people for _, _, p in posts())
    for topic in topics().values():
        private = topic["archetype"] == "private_message"
        assert (topic["category"] is None) if private else (topic["category"] in rooms)
        assert set(topic.get("participants", [])) <= set(people)
        assert bool(topic.get("participants")) == private


def test_slugs_and_titles_are_what_discourse_would_make() -> None:
    for topic in topics().values():
        assert SLUG.fullmatch(topic["slug"]), topic["slug"]
        assert 3 <= len(topic["title"]) <= 255
        assert all(SLUG.fullmatch(tag) for tag in topic["tags"])


def test_dates_are_ordered_within_a_topic() -> None:
    for topic in topics().values():
        times = [when(p["at"]) for p in topic["posts"]]
        assert times == sorted(times), topic["slug"]
        assert topic["created"] == topic["posts"][0]["at"]
    assert min(when(p["at"]) for _, _, p in posts()).year == 2016
    assert max(when(p["at"]) for _, _, p in posts()).year == 2026


def test_edits_come_after_the_post() -> None:
    edited = [p for _, _, p in posts() if "edited" in p]
    assert edited
    assert all(when(p["edited"]) > when(p["at"]) and p["version"] > 1 for p in edited)


def test_replies_answer_an_earlier_post() -> None:
    for topic, number, post in posts():
        assert 0 < post.get("reply_to", 1) <= number, topic["slug"]
    assert all(sum(bool(p.get("accepted")) for p in t["posts"]) <= 1 for t in topics().values())


def test_quotes_hold_words_of_the_post_they_name() -> None:
    seen = 0
    for _, _, post in posts():
        for user, number, topic_id in QUOTE.findall(post["raw"]):
            quoted = topics()[int(topic_id)]["posts"][int(number) - 1]
            assert quoted["user"] == user
            seen += 1
        assert post["raw"].count("[quote=") == post["raw"].count("[/quote]")
    assert seen >= 4


def test_links_lead_to_topics_that_existed_when_they_were_written() -> None:
    linked: Counter[int] = Counter()
    for topic, _, post in posts():
        for slug, topic_id, number in LINK.findall(post["raw"]):
            target = topics()[int(topic_id)]
            assert target["slug"] == slug
            assert int(number or 1) <= len(target["posts"])
            assert target["created"] < post.get("edited", post["at"]), topic["slug"]
            linked[int(topic_id)] += 1
    assert len([t for t, n in linked.items() if n >= 3]) >= 3


def test_every_secret_stands_exactly_where_the_list_says() -> None:
    listed = yaml.safe_load((FORUM / "secrets.yml").read_text("utf-8"))["secrets"]
    found = [(m, t["id"], n) for t, n, p in posts() for m in TOKEN.findall(p["raw"])]
    found += [(m, t["id"], 0) for t in topics().values() for m in TOKEN.findall(t["title"])]
    assert sorted((s["token"], s["topic_id"], s["post_number"]) for s in listed) == sorted(found)
    assert len({s["token"] for s in listed}) == len(listed) >= 10
    assert all(s["why"] for s in listed)


def test_no_public_post_or_page_of_the_forum_holds_a_secret() -> None:
    public = [(t, p) for t, _, p in posts() if is_public(t, p)]
    assert not [t["slug"] for t, p in public if "SECRET-" in p["raw"] + t["title"]]
    assert "SECRET-" not in (FORUM / "forum.yml").read_text("utf-8")


def test_every_unreadable_room_message_and_flagged_post_holds_a_secret() -> None:
    for _, _, post in posts():
        if any(post.get(k) for k in ("hidden", "deleted", "user_deleted", "whisper")):
            assert TOKEN.search(post["raw"])
    for topic in topics().values():
        if not any(is_public(topic, p) for p in topic["posts"]):
            assert any(TOKEN.search(p["raw"]) for p in topic["posts"]), topic["slug"]


def test_hostile_posts_are_public_and_so_can_be_retrieved() -> None:
    hostile = [t["id"] for t, _, p in posts() if is_public(t, p) and "evil.example" in p["raw"]]
    assert len(hostile) >= 3
    assert any("](https://evil.example" in t["title"] for t in topics().values())


def test_answerable_questions_are_many_and_of_every_kind() -> None:
    asked = questions("practice.jsonl")
    kinds = Counter(q["kind"] for q in asked)
    assert len(asked) >= 130
    assert len({q["id"] for q in asked}) == len(asked)
    wanted = {"paraphrase", "misspelled", "mixed", "multi", "followup", "code", "error", "short"}
    assert set(kinds) == wanted
    assert min(kinds.values()) >= 8
    assert sum(q["lang"] == "fr" for q in asked) >= len(asked) / 3
    assert all(q["conversation"] for q in asked if q["kind"] == "followup")
    assert sum(q["cross_lingual"] for q in asked) >= 20


def test_advice_that_turned_out_wrong_is_never_the_best_answer() -> None:
    wrong = {(18, 2), (26, 2), (37, 2), (97, 2)}
    for question in questions("practice.jsonl"):
        best = {(g["topic_id"], g["post_number"]) for g in question["gold"] if g["grade"] == 3}
        assert not best & wrong, question["id"]


def test_gold_posts_exist_are_public_and_older_than_the_question() -> None:
    for question in questions("practice.jsonl"):
        assert question["topic_id"] == 0
        assert max(g["grade"] for g in question["gold"]) == 3, question["id"]
        for gold in question["gold"]:
            topic = topics()[gold["topic_id"]]
            post = topic["posts"][gold["post_number"] - 1]
            assert gold["grade"] in (1, 2, 3)
            assert is_public(topic, post), question["id"]
            assert post["at"] < question["asked_at"], question["id"]
        best = {g["topic_id"] for g in question["gold"] if g["grade"] >= 2}
        assert set(question["relevant_topics"]) == best, question["id"]


def test_unanswerable_questions_are_many_and_of_every_kind() -> None:
    asked = questions("practice-unanswerable.jsonl")
    kinds = Counter(q["kind"] for q in asked)
    wanted = {"other-domain", "near-domain", "false-premise"}
    wanted |= {"private-data", "future", "under-specified"}
    assert set(kinds) == wanted
    assert min(kinds.values()) >= 11
    assert len({q["id"] for q in asked}) == len(asked) >= 66
    assert {q["lang"] for q in asked} == {"en", "fr"}


def test_no_question_gives_a_secret_away() -> None:
    for name in ("practice.jsonl", "practice-unanswerable.jsonl"):
        assert not TOKEN.search((QUESTIONS / name).read_text("utf-8"))
