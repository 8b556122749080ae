"""Terms of the keyword channel: what is searched by, and that Postgres takes all of it."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forum.terms import query_terms, terms, tsquery, tsvector_literal


def test_words_are_stemmed_and_function_words_go() -> None:
    assert terms("The installers were installing it") == ["instal", "instal"]
    assert terms("Les réglages ne sont pas enregistrés") == ["reglag", "enregistr"]


def test_accents_fold_after_stemming() -> None:
    assert terms("déjà des éléments", "fr") == terms("des elements", "fr") == ["element"]


@pytest.mark.parametrize("text", ["dog cat", "dog,cat", "dog , cat", "dog|cat", "(dog) & !cat:*"])
def test_punctuation_between_words_changes_nothing(text: str) -> None:
    assert query_terms(text) == ["dog", "cat"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What's X?", "x"),
        ("C++ & C#", "c++"),
        ("C++ & C#", "c#"),
        ("foo | !bar", "bar"),
        ("l’installation", "install"),
        ("l'installation", "install"),
        ("23-2011.00", "23-2011.00"),
        ("23-2011.00", "2011"),
        ("v3.2.1", "v3.2.1"),
        ("v3.2.1", "3.2.1"),
        ("foo/bar_baz.conf", "foo/bar_baz.conf"),
        ("foo/bar_baz.conf", "baz"),
        ("vtkNode::GetID()", "getid"),
        ("open-source", "open-source"),
        ("-install", "instal"),
        ('"unclosed', "unclos"),
        ("软件安装", "软件"),
        ("हिन्दी", "हिन्दी"),
    ],
)
def test_odd_words_are_found(text: str, found: str) -> None:
    assert found in terms(text)
    assert found in query_terms(text)


@pytest.mark.parametrize(
    "text", ["a:*", ":'(", "((", "it''s", "c'est", "aujourd’hui", "", "😀", "https://", "x" * 3_000]
)
def test_what_says_nothing_gives_no_terms(text: str) -> None:
    assert terms(text) == []
    assert query_terms(text) == []
    assert tsquery(query_terms(text)) == ""


def test_a_function_word_of_one_language_that_means_a_thing_in_the_other_stays() -> None:
    assert "car" in terms("the car is in the garage")
    assert "but" in terms("quel est le but de ce réglage")


@pytest.mark.parametrize("question", ["installation", "comment faire l’installation ?"])
def test_a_question_that_is_not_english_is_stemmed_both_ways(question: str) -> None:
    assert query_terms(question) == ["instal", "install"]
    assert query_terms(question, 1, {"instal": 900, "install": 3}) == ["instal", "install"]
    assert query_terms(question, 1, {"instal": 900}) == ["instal"]


@pytest.mark.parametrize(("one", "other"), [("RAIN", "rain"), ("ÉCRAN", "écran"), ("ΡΟΗ", "ροη"), ("\u13a0", "\uab70")])
def test_case_makes_no_difference_and_a_term_gives_itself(one: str, other: str) -> None:
    assert terms(one) == terms(other) == query_terms(other)[:1]
    assert terms(terms(one)[0]) == terms(one)


def test_a_question_asks_for_the_rarest_terms_that_the_index_holds() -> None:
    frequencies = {"pin": 3, "transact": 900, "rule": 50}
    assert query_terms("the pinning rules of unheard transactions", 2, frequencies) == ["pin", "rule"]
    assert query_terms("unheard things", 2, frequencies) == []


def test_frequencies_may_be_looked_up_once_for_all_candidates() -> None:
    calls: list[list[str]] = []

    def look_up(candidates: object) -> dict[str, int]:
        calls.append(list(candidates))  # type: ignore[call-overload]
        return {"dog": 2, "cat": 1}

    assert query_terms("the dog and the cat", document_frequency=look_up) == ["cat", "dog"]
    assert calls == [["dog", "cat"]]


def test_a_count_is_carried_by_positions() -> None:
    assert tsvector_literal(["dog", "cat", "dog"]) == ("'dog':1,2 'cat':1", 3, False)
    literal, length, truncated = tsvector_literal(["dog"] * 1_000)
    assert literal.endswith(",254,255")
    assert (length, truncated) == (1_000, False)


def test_a_very_rich_text_is_bounded_and_keeps_its_beginning() -> None:
    literal, length, truncated = tsvector_literal(f"w{number:05d}" for number in range(160_000))
    assert truncated
    assert length == 160_000
    assert literal.startswith("'w00000':1 'w00001':1")
    assert len(literal) < 1_000_000


def test_quotes_and_backslashes_cannot_end_a_term() -> None:
    assert tsquery(["it's", "a\\", "x & !y"]) == r"'it''s' | 'a\\' | 'x & !y'"
    assert tsvector_literal(["it's", "a\\"])[0] == r"'it''s':1 'a\\':1"


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)


@given(ANY_TEXT)
@example("\u13a0 \uab70")
def test_a_term_is_short_and_plain(text: str) -> None:
    for term in terms(text) + query_terms(text):
        assert 0 < len(term) <= 64
        assert not re.search(r"[\s'\\\"&|!()<>*\x00-\x1f\ud800-\udfff]", term)
        assert term in (term.lower(), term.casefold())


@given(st.lists(ANY_TEXT, max_size=8))
def test_any_query_is_an_or_of_closed_quotes(words: list[str]) -> None:
    lexeme = r"'(?:[^'\\\x00]|''|\\\\)+'"
    assert re.fullmatch(rf"(?:{lexeme}(?: \| {lexeme})*)?", tsquery(words))
