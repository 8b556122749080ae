"""Combinations of families: what they find, what excuses them, and that their work grows as the message does."""

from __future__ import annotations

import random

import numpy as np
import pytest

from bot.gate.combination import combination
from bot.gate.lexicon import Lexicon
from bot.gate.screen import Screen
from bot.gate.spellings import spellings

FAMILIES: dict[str, list[tuple[str, ...]]] = {
    "take": [("steal",), ("run", "off", "with")],
    "fruit": [("apples",)],
    "whose": [("neighbour",)],
}
EVERY = np.ones(len(FAMILIES), bool)


def _found(rule: str, text: str) -> bool:
    lexicon, read = Lexicon(FAMILIES), combination(rule)
    occurrences = lexicon.find(text.encode().split())
    return Screen(lexicon.names, {}, [read]).possible(occurrences) == [0] and bool(read.ends(occurrences.places(EVERY)))


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


@pytest.mark.parametrize("at", [0, 1, 63, 64, 65, 124, 127, 128, 129, 600, 2_000])
@pytest.mark.parametrize("filler", ["x ", "a. ", "x . ", "x x x x x . "])
def test_a_match_is_found_wherever_blocks_part(at: int, filler: str) -> None:
    assert _found("take >3 fruit", ". " + filler * at + "steal two red apples" + " x" * 700)


@pytest.mark.parametrize("sign", [".", ". .", "x"])
def test_the_screen_loses_no_match_of_what_is_searched_whole(sign: str) -> None:
    words = [b"steal", b"apples", b"neighbour", b"run", b"off", b"with", b"x", *sign.encode().split()]
    rules = [
        *("take >3 fruit", "take fruit whose / 34", "fruit >20 whose", "whose take / 20", "take >9 take >9 take"),
        *("theft whose", "whose >2 loot"),
    ]
    chains = {"theft": [combination("take >5 fruit")], "loot": [combination("theft"), combination("fruit >3 whose")]}
    chance, lexicon, read = random.Random(3), Lexicon(FAMILIES), list(map(combination, rules))
    screen = Screen(lexicon.names, chains, read)
    seen = set()
    for count in [*range(1, 300, 3)] * 5:
        occurrences = lexicon.find([b".", *chance.choices(words, k=count), b"."])
        places = occurrences.places(EVERY)
        for name, group in chains.items():
            places[name] = group[0].ends(places) | group[-1].ends(places)
        there = {at for at, each in enumerate(read) if each.ends(places)}
        assert there <= set(screen.possible(occurrences))
        seen |= there
    assert seen == set(range(len(rules)))


def test_the_screen_tells_what_cannot_be_there() -> None:
    lexicon = Lexicon(FAMILIES)
    screen = Screen(lexicon.names, {}, [combination("take >3 fruit"), combination("take whose")])
    far = lexicon.find(b"steal . a . a . a . apples . a . a . neighbour steal".split())
    assert screen.possible(far) == [1]


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
