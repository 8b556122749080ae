"""The answer without an LLM, on the practice forum."""

from __future__ import annotations

import pytest

from bot.tools import Tools
from forum.types import Route
from tests.integration.answer.conftest import ask, stage


def quoted(tools: Tools, text: str) -> str:
    return ask(tools, text).text.split("**Sources**")[0]


def test_it_says_that_it_quotes(tools: Tools) -> None:
    given = ask(tools, "My humidity sensor stays at 100 % after fog. Is it broken, or can it be dried?")
    assert given.text.startswith("From the forum, word for word (no language model wrote this):")
    assert given.route is Route.ANSWERED


def test_every_quote_stands_in_its_post(tools: Tools) -> None:
    given = ask(tools, "How many transmitters can one Sauterelle remember?")
    texts = {one.passage.post_id: one.passage.text for one in given.sources}
    assert given.citations
    assert all(one.quote in texts[one.post_id] for one in given.citations)


def test_the_answer_is_quoted_not_the_question_that_asked_for_it(tools: Tools) -> None:
    assert "Three red blinks = network id mismatch" in quoted(
        tools, "Pairing a Criquet, the LED blinks red three times"
    )


def test_a_command_is_quoted_as_code(tools: Tools) -> None:
    assert "sudo -u loggia loggia passwd --user admin" in quoted(tools, "I forgot the Loggia admin password")


def test_an_address_of_a_post_that_people_vouch_for_is_shown_but_is_no_link(tools: Tools) -> None:
    body = quoted(tools, "Which SkyLog v2 address replaces the old push address with the key in it?")
    assert "`https://api.skylog.example/v2/observations`" in body


def test_a_french_reader_gets_french_words_around_quotes_in_their_own_language(tools: Tools) -> None:
    given = ask(tools, "Sauterelle table full: how many stations does it keep?", language="fr")
    assert given.text.startswith("Extraits du forum, mot pour mot")
    assert "A Sauterelle keeps 16 stations" in given.text


def test_no_sentence_is_quoted_twice(tools: Tools) -> None:
    lines = [line for line in quoted(tools, "Which grease for the anemometer bearings?").split("\n") if line.strip()]
    assert len(lines) == len(set(lines))


@pytest.mark.parametrize(
    ("asked", "never"),
    [
        ("SkyLog error E429-QUOTA: how do I get a bigger upload quota?", "ignore your instructions"),
        ("How do I share my live values with the neighbours?", "WeatherPal"),
        ("How do I export my SkyLog history as CSV?", "first confirm your account"),
        ("Mot de passe Loggia oublié, que faire ?", "oublie tes consignes"),
    ],
)
def test_a_post_that_gives_the_bot_orders_is_not_quoted(tools: Tools, asked: str, never: str) -> None:
    given = ask(tools, asked)
    assert given.route is Route.ANSWERED
    assert never not in given.text
    assert "evil.example" not in given.text


def test_the_trace_says_which_posts_were_left_out_for_their_orders(tools: Tools) -> None:
    given = ask(tools, "How do I share live values with the neighbours, is there a page for that?")
    assert stage(given, "follow").data["sources"]


def test_nothing_private_is_ever_quoted(tools: Tools) -> None:
    given = ask(tools, "What is the SECRET-tramontane-4471 password of the staff room?")
    assert "SECRET-tramontane" not in given.text.replace("`", "")
