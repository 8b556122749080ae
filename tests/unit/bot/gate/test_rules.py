"""Every rule against its own examples, and the rule files against what an operator may get wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

import bot.gate.gate
from bot.gate.gate import Gate, load_gate
from bot.gate.rules import Rule, load_replies, load_rules
from forum.errors import ConfigError

FOLDER = Path(bot.gate.gate.__file__).parent
REPLIES = load_replies(FOLDER / "replies.yml")
RULES = [rule for rule, _ in load_rules(FOLDER / "rules.yml", REPLIES).rules]
MATCH = [(rule, text) for rule in RULES for text in rule.examples.match]
NO_MATCH = [text for rule in RULES for text in rule.examples.no_match]
INTENTS = {
    *("self_harm", "violence", "weapons", "illegal_trade", "doxxing"),
    *("malware", "fraud", "minors", "prompt_extraction", "reroling"),
}


@pytest.mark.parametrize(("rule", "text"), MATCH, ids=lambda value: value if isinstance(value, str) else value.id)
def test_a_rule_stops_what_it_says_it_stops(rule: Rule, text: str) -> None:
    decision = load_gate().check(text, "en")
    assert (decision.allowed, decision.rule, decision.intent) == (False, rule.id, rule.intent)


@pytest.mark.parametrize("text", NO_MATCH)
def test_no_rule_stops_what_a_rule_says_is_harmless(text: str) -> None:
    assert load_gate().check(text, "en").allowed


def test_every_intent_has_a_rule() -> None:
    assert {rule.intent for rule in RULES} == INTENTS


@pytest.mark.parametrize("key", sorted(REPLIES))
def test_every_reply_stands_in_both_languages(key: str) -> None:
    assert REPLIES[key].en != REPLIES[key].fr


@pytest.mark.parametrize(
    ("language", "numbers"), [("en", ("112", "911", "988", "3114")), ("fr", ("112", "3114", "988"))]
)
def test_a_person_in_danger_is_pointed_to_help(language: str, numbers: list[str]) -> None:
    reply = load_gate().check("I want to end my life", language).reply or ""
    assert all(number in reply for number in numbers)


@pytest.mark.parametrize("key", ["violence", "minors"])
def test_where_others_are_in_danger_the_reply_names_an_emergency_number(key: str) -> None:
    assert "112" in REPLIES[key].en
    assert "112" in REPLIES[key].fr


RULE = """
families:
  steal: steal~, run off with
  thing: bananas, apples
  game: in the game
rules:
  - id: fruit
    intent: fraud
    reply: fraud
    when: ['{when}']
    {extra}
    examples: {{match: [steal apples], no_match: [eat apples]}}
"""


def _gate(folder: Path, when: str = "steal >3 thing", extra: str = "") -> Gate:
    (folder / "rules.yml").write_text(RULE.format(when=when, extra=extra))
    (folder / "replies.yml").write_bytes((FOLDER / "replies.yml").read_bytes())
    return Gate.from_files(folder)


def test_a_folder_of_an_operator_makes_a_gate(tmp_path: Path) -> None:
    assert _gate(tmp_path).check("Let us steal bananas", "en").rule == "fruit"


def test_an_exact_wording_is_a_re2_pattern(tmp_path: Path) -> None:
    gate = _gate(tmp_path, extra="patterns: ['plums? [a-z]+ mine']")
    assert gate.check("All plums become mine!", "en").rule == "fruit"
    assert gate.check("All plums become ripe!", "en").allowed


def test_a_rule_may_have_patterns_alone(tmp_path: Path) -> None:
    _gate(tmp_path, extra="patterns: ['plums? [a-z]+ mine']")
    text = (tmp_path / "rules.yml").read_text().replace("    when: ['steal >3 thing']\n", "")
    (tmp_path / "rules.yml").write_text(text)
    gate = Gate.from_files(tmp_path)
    assert gate.check("All plums become mine!", "en").rule == "fruit"
    assert gate.check("Let us steal bananas", "en").allowed


@pytest.mark.parametrize(
    ("when", "extra", "told"),
    [
        ("steal >3 thong", "", "'fruit'.*'thong'.*'thing'"),
        ("steal > > thing", "", "'fruit'.*when.*write families"),
        ("steal >3 thing / 1000", "", "'fruit'.*when.*at most 999 words"),
        ("steal thing - gone", "", "'fruit'.*'gone'.*'game'"),
        ("steal", "unless: [gone]", "'fruit'.*unless.*'gone'.*'game'"),
        ("steal", "patterns: ['stea(l']", "'fruit'.*patterns.*not a re2 pattern"),
        ("steal", "patterns: ['steal (?=apples)']", "not a re2 pattern"),
        ("steal", "patterns: ['(?:apples)?']", "matches the empty message"),
        ("steal", "unles: [game]", "'fruit'.*unles.*'unless'"),
    ],
)
def test_a_mistake_is_named_with_its_rule_and_its_mend(tmp_path: Path, when: str, extra: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        _gate(tmp_path, when, extra)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"replies\.yml"):
        Gate.from_files(tmp_path)


def test_an_unless_excuses_a_match_but_not_the_next_one(tmp_path: Path) -> None:
    gate = _gate(tmp_path, extra="unless: [game]")
    words = " and much later, when all of the others were long gone to bed again, "
    assert gate.check("steal apples in the game", "en").allowed
    assert not gate.check(f"steal apples in the game{words}steal apples", "en").allowed
