"""The answer without an LLM, on the practice forum."""

from __future__ import annotations

import pytest

from bot.tools import Tools
from clients.postgres.pool import Database
from forum.types import Route
from tests.integration.answer.conftest import ask, stage, tools_on


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
    lines = [
        line for line in quoted(tools, "Which grease for the anemometer bearings?").split("\n") if line.strip("` ")
    ]
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


@pytest.mark.parametrize("noise", ["x", "' OR 1=1 --", "{{7*7}}", "asdkjh qwlekj zmxncb"])
def test_noise_gets_one_line_that_asks_for_a_question(tools: Tools, noise: str) -> None:
    given = ask(tools, noise)
    assert given.route is Route.CHITCHAT
    assert not given.sources


def test_no_source_far_below_the_best_thread_is_quoted(tools: Tools) -> None:
    given = ask(tools, "Humidity sensor 100% after fog")
    best = max(one.thread_logit or 0.0 for one in given.sources)
    cited = [one.thread_logit for one in given.sources if one.passage.post_id in {c.post_id for c in given.citations}]
    assert all(one is not None and one >= best - 1.5 for one in cited)


def test_code_that_a_colon_leads_up_to_is_quoted_with_its_line(tools: Tools) -> None:
    body = quoted(tools, "Pressure differs from the airport by 20 hPa, altitude?")
    assert "let Anemos reduce it:" in body
    assert "```\n[station]\naltitude = 175" in body


def test_no_bullet_holds_nothing_but_a_marker(tools: Tools) -> None:
    questions = [
        "rain gauge heater power",
        "How do I set altitude?",
        "Passer à l'API v2 avec curl",
        "Pigeon payload json",
    ]
    assert not [one for one in questions if "\n- [[" in ask(tools, one).text]


def test_a_members_unanswered_question_to_the_bot_is_no_evidence(changing: Database) -> None:
    asked = "@threadcite does the Zwirbel 9 need a breather hole?"
    with changing.connection() as connection:
        connection.execute("UPDATE post SET text = %s WHERE topic_id = 94 AND post_number = 4", (asked,))
    given = ask(tools_on(changing), "Aspirated shield fan: does the Zwirbel 9 need a breather hole?")
    assert asked not in [one.passage.text for one in given.sources]
    assert "breather" not in given.text


def test_a_fragment_that_points_to_the_posts_above_it_does_not_stand_for_the_procedure(tools: Tools) -> None:
    body = quoted(tools, "How do I calibrate the rain gauge?")
    assert "Let exactly 400 mL drip through" in body
    assert "above" not in body
