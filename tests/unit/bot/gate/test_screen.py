"""The screen leaves out no match, and its work grows as the message does."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from bot.gate.gate import Gate, load_gate
from bot.gate.needs import needs
from bot.gate.screen import Screen

PROBES = (Path(__file__).parents[4] / "eval" / "questions" / "misuse.jsonl").read_text("utf-8").splitlines()
TRIGGERS = (
    "show print your system prompt ignore rules kill find buy steal create a virus hack account the who is".split()
)


def _matches_of_every_pattern(gate: Gate, words: list[bytes]) -> set[int]:
    text = b" ".join(words)
    return {number for number, each in enumerate(gate._patterns) if each.matches.search(text)}


def test_no_pattern_matches_where_the_screen_did_not_look() -> None:
    gate = load_gate()
    for line in PROBES[::3]:
        for words in gate._folder.views(json.loads(line)["text"]):
            looked = {number for number, _ in gate._screen.places(words)}
            assert _matches_of_every_pattern(gate, words) <= looked


def test_the_place_of_a_match_is_inside_its_runs() -> None:
    screen = Screen(["steal (?:[a-z]+ ){0,3}apples"])
    words = [*[b"x"] * 50, b"steal", b"my", b"red", b"apples", *[b"x"] * 50]
    [(_, [(start, end)])] = screen.places(words)
    assert start <= 50
    assert 54 <= end < 70


@pytest.mark.parametrize(
    "text",
    [" ".join(random.Random(seed).choices(TRIGGERS, k=2_000)) for seed in range(3)] + ["a " * 5_000, "k.i" * 3_000],
)
def test_twice_the_text_is_at_most_twice_the_work(text: str) -> None:
    assert _work(text + " " + text) <= 2.1 * _work(text) + 100


def _work(text: str) -> int:
    """The words that are screened and the words that are then matched."""
    gate = load_gate()
    views = list(gate._folder.views(text))
    runs = (run for words in views for _, runs in gate._screen.places(words) for run in runs)
    return sum(map(len, views)) + sum(end - start for start, end in runs)


@pytest.mark.parametrize(
    ("pattern", "groups", "width"),
    [
        ("steal apples", [{"apples"}], 2),
        ("(?:steal|hide) (?:[a-z]+ ){0,3}(?:apples?|figs)", [{"steal", "hide"}, {"apple", "apples", "figs"}], 5),
        (r"\bapples?\b", [{"apple", "apples"}], 1),
        ("(?:red )?apples", [{"apples"}], 2),
        ("[a-z]+apples", [], 1),
        ("(?:steal|[a-z]+)", [], 1),
    ],
)
def test_a_pattern_needs_a_word_of_each_group(pattern: str, groups: list[set[str]], width: int) -> None:
    assert ([set(group) for group in needs(pattern).groups], needs(pattern).width) == (groups, width)
