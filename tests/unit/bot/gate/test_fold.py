"""Words that were taken apart or disguised by digits and signs, and what only looks like it."""

from __future__ import annotations

import pytest

from bot.gate.fold import Folder

FOLDER = Folder(
    ["assassiner", "mdma", "system", "email", "femme", "tuer", "ma", "ce", "s", "y", "t", "e", "m", "d", "mail"]
)


def _second_view(text: str) -> list[str]:
    return [word.decode() for words in list(FOLDER.views(text))[1:] for word in words if word != b"."]


@pytest.mark.parametrize(
    ("text", "word"), [("a-s-s-a-s-s-i-n-e-r", "assassiner"), ("m.d.m.a", "mdma"), ("s.y.s.t.e.m", "system")]
)
def test_a_word_whose_letters_are_all_words_is_put_together(text: str, word: str) -> None:
    assert _second_view(f"so {text} please") == ["so", word, "please"]


def test_a_letter_before_a_word_takes_nothing_apart() -> None:
    assert _second_view("my e-mail is lost") == []


def test_two_signs_are_a_word_around_one_that_was_undone() -> None:
    assert _second_view("tuer m4 f3mm3 c3 soir") == ["tuer", "ma", "femme", "ce", "soir"]


def test_two_signs_alone_are_what_they_are() -> None:
    assert _second_view("an m4 screw and c3 grease") == []


def test_single_letters_do_not_use_up_the_tries_for_spelled_words() -> None:
    assert "mdma" in _second_view("x is 1 " * 100 + "where is m d m a")


@pytest.mark.parametrize("text", ["as sas si ner", "as sas siner", "assa ss in er"])
def test_a_word_is_put_together_from_many_pieces(text: str) -> None:
    assert _second_view(f"tuer {text} ce soir") == ["tuer", "assassiner", "ce", "soir"]


def test_of_two_words_in_the_same_pieces_the_longer_one_counts() -> None:
    folder = Folder(["count", "counterfeit"])
    assert [word for words in list(folder.views("coun t er feit"))[1:] for word in words] == [
        b".",
        b"counterfeit",
        b".",
    ]


def test_pieces_that_are_words_themselves_are_put_together_in_a_short_message() -> None:
    folder = Folder(["person", "personnage", "per", "son", "nage"])
    assert [word for words in list(folder.views("per son nage"))[1:] for word in words] == [b".", b"personnage", b"."]
    assert list(folder.views("per son nage " + "x " * 200))[1:] == []
