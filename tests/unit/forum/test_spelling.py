"""Misspelled words: what they may have been meant as, and which words are left alone."""

from __future__ import annotations

import pytest

from forum.spelling import may_be_misspelled, near_spellings, respelled


@pytest.mark.parametrize("slip", ["humidti", "bateri", "inclinaisson", "sotuh", "capasitor"])
def test_one_slip_is_mended(slip: str) -> None:
    meant = {"humidti": "humidit", "bateri": "batteri", "inclinaisson": "inclinaison", "sotuh": "south"}
    right = meant.get(slip, "capacitor")
    assert respelled([slip], {right: 5, "other": 9}) == {slip: right}


def test_of_two_near_words_the_commoner_is_meant() -> None:
    assert respelled(["staton"], {"station": 40, "statin": 2}) == {"staton": "station"}


def test_a_word_that_one_post_holds_mends_nothing() -> None:
    assert respelled(["bateri"], {"batteri": 1}) == {}


@pytest.mark.parametrize("name", ["v1.2", "x86", "gpio4", "cat", "", "pt100-b", "água"])
def test_names_and_short_words_are_left_alone(name: str) -> None:
    assert not may_be_misspelled(name)


def test_a_word_is_not_its_own_slip() -> None:
    assert "aaaaa" not in near_spellings("aaaaa")
