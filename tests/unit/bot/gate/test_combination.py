"""Combinations of families: what they find, what excuses them, and that their work grows as the message does."""

from __future__ import annotations

import random

import pytest

from bot.gate.combination import combination
from bot.gate.gate import load_gate
from bot.gate.lexicon import Lexicon
from bot.gate.spellings import spellings

FAMILIES: dict[str, list[tuple[str, ...]]] = {
    "take": [("steal",), ("run", "off", "with")],
    "fruit": [("apples",)],
    "whose": [("neighbour",)],
}
TRIGGERS = "show print your system prompt ignore rules kill find buy steal create a virus hack who is".split()


def _found(rule: str, text: str) -> bool:
    lexicon = Lexicon(FAMILIES)
    return any(combination(rule).ends(piece.found) for piece in lexicon.pieces(text.encode().split()))


@pytest.mark.parametrize(
    ("rule", "text", "found"),
    [
        ("take >3 fruit", ". steal two red apples .", True),
        ("take >3 fruit", ". steal two very red apples .", False),
        ("take >3 fruit", ". apples to steal .", False),
        ("take fruit", ". apples to steal .", True),
        ("take fruit", ". steal . apples .", False),
        ("take fruit / 40", ". steal . apples .", True),
        ("take >4 fruit whose", ". run off with the apples of a neighbour .", True),
        ("take >4 fruit whose", ". run off with the apples .", False),
        ("take|whose >3 fruit", ". neighbour s apples .", True),
    ],
)
def test_a_combination_is_found_in_its_order_and_width(rule: str, text: str, found: bool) -> None:
    assert _found(rule, text) is found


@pytest.mark.parametrize("rule", ["take >", "> fruit", "take / x", "", "Take fruit"])
def test_a_badly_written_combination_is_an_error(rule: str) -> None:
    with pytest.raises(ValueError, match="write"):
        combination(rule)


@pytest.mark.parametrize("at", [0, 535, 545, 599, 601, 2_000])
def test_a_match_is_found_wherever_pieces_part(at: int) -> None:
    assert _found("take >3 fruit", "x " * at + "steal two red apples" + " x" * 700)


@pytest.mark.parametrize("text", [" ".join(random.Random(7).choices(TRIGGERS, k=4_000)), "a. " * 5_000])
def test_twice_the_text_is_at_most_twice_the_work(text: str) -> None:
    assert _work(text + " " + text) <= 2.1 * _work(text) + 1_000


def _work(text: str) -> int:
    """The words of all pieces: each is looked at for a bounded time."""
    gate = load_gate()
    pieces = (piece for words in gate._folder.views(text) for piece in gate._lexicon.pieces(words))
    return sum(len(piece.words) for piece in pieces)


@pytest.mark.parametrize(
    ("entry", "phrases"),
    [
        ("steal", {"steal"}),
        ("grab~", {"grab", "grabs", "grabing", "grabbing"}),
        ("copy*", {"copy", "copies", "copying", "copied"}),
        ("city+", {"city", "cities"}),
        ("wi ?fi", {"wi fi", "wifi"}),
        ("(a|the own|) key+", {"a key", "a keys", "the own key", "the own keys", "key", "keys"}),
        ("(box|day)+", {"box", "boxes", "day", "days"}),
    ],
)
def test_an_entry_stands_for_its_phrases(entry: str, phrases: set[str]) -> None:
    assert {" ".join(phrase) for phrase in spellings(entry)} == phrases


def test_a_french_verb_is_known_in_its_forms() -> None:
    assert {("vole",), ("volez",), ("voler",)} <= set(spellings("vol-er"))


def test_an_entry_with_another_sign_is_an_error() -> None:
    with pytest.raises(ValueError, match="write a-z"):
        list(spellings("vol*é"))
