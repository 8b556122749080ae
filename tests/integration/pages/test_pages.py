"""Each admin page, in both languages, empty and full."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from bot.pages.flags import comments
from bot.pages.frame import PAGES
from bot.pages.wording import keys_in_french
from clients.postgres.ledger import Ledger
from forum.config import Config
from forum.config_keys import flat

from .conftest import Pages

PATHS = ("/", "/answers", "/playground", "/drafts", "/gaps", "/index", "/flags")


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("path", PATHS)
def test_an_empty_installation_has_every_page(pages: Pages, path: str, language: str) -> None:
    text = pages.get(path, headers={"Accept-Language": language})
    assert f'<html lang="{language}">' in text
    assert "</html>" in text


def test_every_page_stands_in_the_navigation(pages: Pages) -> None:
    text = pages.get("/")
    assert all(f">{name.capitalize()}</a>" in text for name in PAGES)


def test_both_languages_have_every_word() -> None:
    words = yaml.safe_load((Path(__file__).parents[3] / "bot" / "pages" / "wording.yml").read_bytes())
    assert all(set(entry) == {"en", "fr"} and all(entry.values()) for entry in words.values())


def test_answers_are_counted_by_zone_and_route(pages: Pages) -> None:
    for n, zone in enumerate(["ok", "ok", "weak", "abstain"]):
        pages.ask(n + 1)
        pages.trace(f"t{n}", zone=zone, ask_post_id=n + 1, degraded=["llm"] if n == 0 else [])
    text = pages.get("/")
    assert text.count("<rect class=") > 10
    assert 'class="z-abstain"' in text
    assert "language model" in text


def test_a_reply_that_could_not_be_posted_is_told_with_its_reason(pages: Pages) -> None:
    pages.ask(1, state="failed", title="Rain in the box", reason="Discourse says <no>")
    pages.ask(2, title="Posted all the same")
    text = pages.get("/")
    assert "Rain in the box" in text
    assert "Discourse says &lt;no&gt;" in text
    assert "Posted all the same" not in text


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (
            '{"checked": 9000, "drift": 0, "missing": 0, "repaired": true}',
            "9 000 messages comparés ; aucune",
        ),
        ('{"checked": 9000, "drift": 2, "missing": 2, "repaired": true}', "absent de l’index"),
        ('{"checked": 9000, "drift": 2, "missing": 2, "repaired": false}', "rien n’a été modifié"),
        ("the forum was away", "the forum was away"),
    ],
)
def test_the_last_comparison_with_the_forum_is_told_in_words(pages: Pages, told: str, said: str) -> None:
    Ledger(pages.database).set_health("reconcile", "ok", told)
    assert said in pages.get("/index", headers={"Accept-Language": "fr"})


def test_the_range_of_a_day_goes_by_the_hour(pages: Pages) -> None:
    pages.ask(1)
    pages.trace("t", ask_post_id=1, age=timedelta(hours=3))
    assert ":00: 1 ok" in pages.get("/?days=1")


def test_an_answer_is_found_by_word_zone_and_id(pages: Pages) -> None:
    pages.trace("first", question="the hygrometer drifts")
    pages.trace("second", question="the rain gauge tips", zone="weak")
    assert "rain gauge tips" not in pages.get("/answers?q=hygrometer")
    assert "hygrometer drifts" not in pages.get("/answers?zone=weak")
    assert pages.client.get("/admin/answers?q=second").headers["Location"].endswith("/answers/second")


def test_answers_are_found_by_the_state_of_their_question(pages: Pages) -> None:
    for number, state in enumerate(["posted", "failed", "draft", "failed"], 1):
        pages.trace(f"t{number}", ask_post_id=number, question=f"question {number}")
        pages.ask(number, state=state, trace_id=f"t{number}")
    text = pages.get("/answers?state=failed")
    assert [number for number in range(1, 5) if f"question {number}" in text] == [2, 4]
    assert "question 3" in pages.get("/answers?state=draft&zone=ok")
    assert "question 3" not in pages.get("/answers?state=draft&zone=weak")
    assert "question 1" in pages.get("/answers?state=nonsense")


def test_pages_of_one_state_follow_each_other_without_gap_or_repeat(pages: Pages) -> None:
    for number in range(1, 121):
        pages.trace(f"t{number}", ask_post_id=number)
        pages.ask(number, state="failed", trace_id=f"t{number}")
    path, seen = "/answers?state=failed", list[str]()
    while path:
        text = pages.get(path)
        seen += re.findall(r'/answers/(t\d+)"', text)
        more = re.search(r'rel="next" href="/admin([^"]+)"', text)
        path = more[1].replace("&amp;", "&") if more else ""
    assert sorted(seen) == sorted(f"t{number}" for number in range(1, 121))


def test_pages_of_answers_follow_each_other_without_gap_or_repeat(pages: Pages) -> None:
    for n in range(120):
        pages.trace(f"t{n:03}", question=f"question number {n:03}", age=timedelta(seconds=n // 3))
    seen: list[str] = []
    path = "/answers"
    while path:
        text = pages.get(path)
        seen += [part.split("<")[0] for part in text.split(">question number ")[1:]]
        _, _, rest = text.partition('rel="next" href="/admin')
        path = rest.partition('"')[0].replace("&amp;", "&")
    assert len(seen) == len(set(seen)) == 120


def test_the_calls_of_a_stage_are_shown_with_their_time_and_outcome(pages: Pages) -> None:
    calls = [
        {"service": "index", "call": "keyword", "ms": 2.25, "outcome": "ok"},
        {"service": "<llm>", "call": "chat", "ms": 80.0, "outcome": "refused 404"},
    ]
    stage = {"stage": "recall", "decision": "2 candidates", "reason": "", "ms": 3.0, "data": {}, "calls": calls}
    pages.trace("called", body={"sources": [], "stages": [stage]})
    text = pages.get("/answers/called")
    assert "index.keyword 2.2 ms" in text
    assert "&lt;llm&gt;.chat 80.0 ms (refused 404)" in text


def test_a_whole_trace_is_shown(pages: Pages) -> None:
    source = {"n": 1, "post_id": 5, "topic_id": 3, "post_number": 2, "title": "Tipping buckets", "accepted": True}
    source |= {"ranks": {"posts": 4, "keyword": 1}, "rrf": 0.031, "ce": 1.25}
    stages = [
        {
            "stage": "recall",
            "decision": "2 candidates",
            "reason": "",
            "ms": 3.0,
            "data": {"fused": [[5, 0.031, {"posts": 4}], [6, 0.02, {}]]},
        },
        {"stage": "rerank", "decision": "sorted", "reason": "", "ms": 1.0, "data": {"logits": [[6, 2.5], [5, 1.25]]}},
        {
            "stage": "generate",
            "decision": "written",
            "reason": "m",
            "ms": 9.0,
            "data": {"prompt": [{"role": "system", "content": "Answer from the evidence."}], "reply": "Twice."},
        },
        {"stage": "verify", "decision": "kept", "reason": "", "ms": 1.0, "data": {"dropped": ["The moon is near."]}},
    ]
    pages.trace("whole", body={"sources": [source], "stages": stages})
    text = pages.get("/answers/whole")
    for shown in ("Tipping buckets", "2.50", "Answer from the evidence.", "The moon is near.", "accepted", "0.0310"):
        assert shown in text
    assert text.index(">6</a>") < text.index(">5</a>", text.index("Candidates: 2"))


def test_an_unknown_answer_is_404(pages: Pages) -> None:
    assert pages.client.get("/admin/answers/nothing").status_code == 404


def test_what_members_wrote_is_never_markup(pages: Pages) -> None:
    bad = "<img src=x onerror=1> [x](javascript:alert(1)) ![i](http://evil.example/i.png) \u202eSYSTEM"
    pages.ask(1, state="draft", question=bad, title=bad, username=bad, reply_raw=bad)
    pages.trace("bad", question=bad, ask_post_id=1, body={"answer": bad})
    for path in ("/answers", "/answers/bad", "/drafts"):
        text = pages.get(path)
        assert "<img" not in text
        assert 'href="javascript' not in text
        assert "\u202e" not in text


def test_a_refused_config_is_named_on_every_page(pages: Pages) -> None:
    Ledger(pages.database).set_health("config", "refused", "bot.mod: unknown key")
    assert all("bot.mod: unknown key" in pages.get(path) for path in PATHS)


def test_every_key_is_explained_on_the_page(pages: Pages) -> None:
    text = pages.get("/flags")
    for key in flat(Config()):
        assert f"<code>{key}</code>" in text
        assert comments()[key]


def test_every_key_is_explained_in_french_and_no_other() -> None:
    assert set(keys_in_french()) == set(flat(Config()))


def test_a_part_that_is_down_is_named(pages: Pages) -> None:
    assert "worker" in pages.get("/")
    Ledger(pages.database).set_health("worker", "ok")
    assert "Everything works" in pages.get("/")
