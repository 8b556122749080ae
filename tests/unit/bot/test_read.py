"""The language of a reply where the question hardly shows one, and replies to what is no question."""

from __future__ import annotations

import pytest

from bot.stages.read import read
from forum.config import Config
from forum.types import Question, Turn

CONFIG = Config()
FRENCH = Turn(author="maelle", text="Bonjour, comment nettoyer le pluviomètre sans le démonter ?")


@pytest.mark.parametrize("text", ["OK", "GPU OOM?", "Error: ENOENT", "v3 pinning?", "🌧️", ""])
def test_too_short_to_tell_means_the_forums_default(text: str) -> None:
    assert read(Question(text=text), CONFIG).language == "en"


@pytest.mark.parametrize("text", ["OK", "GPU OOM?", "v3 pinning?", "🌧️"])
def test_too_short_to_tell_goes_by_the_same_authors_earlier_post(text: str) -> None:
    assert read(Question(text=text, asker="maelle", conversation=(FRENCH,)), CONFIG).language == "fr"


def test_another_authors_post_does_not_decide() -> None:
    assert read(Question(text="OK", asker="ann", conversation=(FRENCH,)), CONFIG).language == "en"


def test_then_by_the_topics_title() -> None:
    assert (
        read(Question(text="GPU OOM?", title="Pourquoi la pluie est-elle comptée deux fois ?"), CONFIG).language == "fr"
    )


def test_then_by_the_persona() -> None:
    config = Config.parse({"personas": [{"username": "brume", "language": "fr"}]})
    assert read(Question(text="v3 pinning?", persona="brume"), config).language == "fr"


def test_an_error_message_in_a_french_question_leaves_it_french() -> None:
    text = "Bonjour, CUDA error: no kernel image is available for execution on the device"
    assert read(Question(text=text), CONFIG).language == "fr"


def test_never_a_language_that_is_not_switched_on() -> None:
    config = Config.parse({"forum": {"languages": ["en"]}})
    assert read(Question(text="Bonjour, pourquoi le pluviomètre est-il vide ?"), config).language == "en"
    assert read(Question(text="Warum zeigt der Regenmesser nichts an?", language="de"), CONFIG).language == "en"


@pytest.mark.parametrize("text", ["", "   ", "???", "🌧️", "\u200b"])
def test_what_holds_no_word_gets_help(text: str) -> None:
    asked = read(Question(text=text), CONFIG)
    assert asked.decision == "empty"
    assert "Ask me a question" in asked.reply


def test_a_question_over_the_limit_is_asked_to_be_shorter() -> None:
    asked = read(Question(text="why " * 5000), CONFIG)
    assert asked.decision == "too_long"
    assert "8000" in asked.reply
