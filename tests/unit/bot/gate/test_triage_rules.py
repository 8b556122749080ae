"""Triage tier 0: what is no question, and what must stay one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.gate.triage_rules import chitchat_reply, triage0

QUESTIONS = Path(__file__).parents[4] / "eval" / "questions"
KINDS = ["chitchat:greeting", "chitchat:thanks", "gibberish", "chitchat", "unsafe"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Hello!", "chitchat:greeting"),
        ("hi there bot", "chitchat:greeting"),
        ("Bonjour à tous, ça va ?", "chitchat:greeting"),
        ("Who are you?", "chitchat:greeting"),
        ("👋", "chitchat:greeting"),
        ("Thanks, that worked!", "chitchat:thanks"),
        ("Merci beaucoup pour ton aide", "chitchat:thanks"),
        ("❤️👍", "chitchat:thanks"),
        ("???", "gibberish"),
        ("asdfgh", "gibberish"),
        ("aaaaaaaa", "gibberish"),
        ("qsdf jklm", "gibberish"),
        ("lkjhg fdsqpoiu wert", "gibberish"),
        ("asdkjh qwlekj zmxncb", "gibberish"),
        ("x", "gibberish"),
        ("' OR 1=1 --", "gibberish"),
        ("{{7*7}}", "gibberish"),
        ("${jndi:ldap://x}", "gibberish"),
        ("<script>alert(1)</script>", "gibberish"),
        ("https://forum.example/t/1", "gibberish"),
        ("test", "chitchat:greeting"),
        ("help!", "chitchat:greeting"),
    ],
)
def test_what_is_no_question_is_told_apart(text: str, kind: str) -> None:
    assert triage0(text, "en") == kind


@pytest.mark.parametrize(
    "text",
    [
        "Hello, how do I reset the pump?",
        "Bonjour, comment installer la carte ?",
        "Thanks, that did not work",
        "thanks but the relay still clicks",
        "Merci, et pour la batterie ?",
        "It works?",
        "ça marche ?",
        "btrfs",
        "MQTT",
        "qwerty or azerty?",
        "0x80070057",
        "404",
        "你好吗",
        "Как дела",
        "hi-fi",
        "tree",
        "👋 pump?",
        "dog,cat",
        "5V->3.3V?",
        "mode=live?",
        "C++ & C#",
        "E429-QUOTA",
        "v3.2.1",
        "l’installation",
        "%s is shown",
        "test the pump",
        "good inverter",
        "",
        "ok",
    ],
)
def test_what_may_be_a_question_stays_one(text: str) -> None:
    assert triage0(text, "fr") is None


@pytest.mark.parametrize("name", ["practice", "practice-unanswerable", "lookalikes"])
def test_no_real_question_is_swallowed_not_even_behind_a_greeting(name: str) -> None:
    rows = [json.loads(line) for line in (QUESTIONS / f"{name}.jsonl").read_text("utf-8").splitlines()]
    texts = [row.get("body") or row.get("title") or row["text"] for row in rows]
    assert [text for text in texts if triage0(text, "en") or triage0(f"Hello! {text} Thanks", "en")] == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_reply_in_both_languages(kind: str) -> None:
    assert chitchat_reply(kind, "en") == chitchat_reply(kind, "de") != chitchat_reply(kind, "fr")


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_unsafe_reply_names_help(language: str) -> None:
    assert all(number in chitchat_reply("unsafe", language) for number in ("112", "3114", "988"))


def test_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(KeyError):
        chitchat_reply("weather", "en")


@given(st.text(max_size=300))
def test_any_text_has_a_kind_with_a_reply_or_none(text: str) -> None:
    kind = triage0(text, "en")
    assert kind is None or chitchat_reply(kind, "fr")
