"""How far a post supports a sentence: terms, figures, names, and the word "not"."""

from __future__ import annotations

import pytest

from forum.support import anchors, best_quote, foreign_names, missing_exact, support

POST = (
    "Grease thickens in the cold. Wash both bearings of the A2 in alcohol, set rain_pullup = 1 and wait 20 minutes"
    " (0,2 mm)."
)


def equal(term: str) -> float:
    return 1.0


def score(claim: str, post: str = POST) -> float:
    return support(claim, post, equal).score


def test_a_sentence_of_the_post_is_fully_supported() -> None:
    assert score("Grease thickens in the cold.") == 1.0


def test_other_words_are_less_supported() -> None:
    assert score("Unicorns thicken in the cold.") < 1.0
    assert score("Unicorns graze.") == 0.0


@pytest.mark.parametrize(
    "claim", ["Wait 30 minutes.", "Wait 2 minutes.", "Wash both bearings of the A3.", "Set rain_pulldown = 1."]
)
def test_a_figure_or_name_that_the_post_lacks_refutes(claim: str) -> None:
    found = support(claim, POST, equal)
    assert (found.score, found.lacks) == (0.0, "figures")


@pytest.mark.parametrize("claim", ["0.2 mm", "0,2 mm"])
def test_decimal_comma_and_point_are_one(claim: str) -> None:
    assert not missing_exact(claim, POST)


def test_a_word_with_a_hyphen_is_no_name() -> None:
    assert not missing_exact("a well-known read-only trick, and/or 20 minutes", "20 minutes")


def test_the_opposite_is_not_supported() -> None:
    found = support("Grease never thickens in the cold.", POST, equal)
    assert (found.score, found.lacks) == (0.0, "denied")


def test_not_said_of_something_else_does_not_matter() -> None:
    assert score("Wash both bearings in alcohol.", POST + " Do not open the mast.") == 1.0


def test_a_claim_without_terms_claims_nothing() -> None:
    assert score("and so on") == 1.0


def test_what_survives_translation_is_counted() -> None:
    assert anchors("Lavez les roulements du A2, attendez 20 minutes", POST) >= 2
    assert foreign_names("Avec la Sauterelle, attendez", POST) == ["Sauterelle"]


def test_the_best_quote_holds_the_figure() -> None:
    assert (
        best_quote("Wait 20 minutes.", ["Wait a while.", "After 20 minutes, wait."], equal)[0]
        == "After 20 minutes, wait."
    )
