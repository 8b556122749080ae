"""The language to answer in: shown by prose, else by what is known of the author and the topic."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forum.language import detect

BOTH = ("en", "fr")


@pytest.mark.parametrize(
    "text", ["OK", "GPU OOM?", "Error: ENOENT", "v3 pinning?", "😀", "", "CUDA 11.2", "ما هي أفضل طريقة؟"]
)
def test_too_little_text_falls_back_to_author_then_topic_then_default(text: str) -> None:
    assert detect(text, BOTH, ("fr", "en"), "en").code == "fr"
    assert detect(text, BOTH, (None, "fr"), "en").code == "fr"
    assert detect(text, BOTH, (None, None), "en").code == "en"


def test_a_french_greeting_outweighs_the_error_message_after_it() -> None:
    text = "Bonjour, CUDA error: no kernel image is available for execution on the device"
    assert detect(text, BOTH, ("en",), "en").code == "fr"


@pytest.mark.parametrize(
    "text",
    [
        "Comment installer CUDA ?",
        "Pourquoi ça plante au démarrage ?",
        "Quelle est la bonne valeur pour le pluviomètre ?",
        "J’ai un message d’erreur quand je lance l’installation",
        "Est-ce que quelqu'un a réussi à compiler la version 5 sous Windows ?",
        "Merci beaucoup !",
        "Il faut vider le cache avant de relancer le serveur.",
        "Je ne comprends pas pourquoi `if x is not None and y in z` ne marche pas",
        'Que veut dire "the file could not be opened because it is locked by another process" ?',
        "Ça ne marche pas :\nfor i in range(10):\n    if i is not None and i in seen:\n        return the_end\n",
    ],
)
def test_french_is_french_whatever_code_it_quotes(text: str) -> None:
    assert detect(text, BOTH, (), "en").code == "fr"


@pytest.mark.parametrize(
    "text",
    [
        "How do I install CUDA?",
        "Thanks!",
        "I am developing an extension for the viewer.",
        "What does « il n'y a pas de données » mean?",
        "The log says\n> Vous êtes dans l'état HEAD détachée et vous pouvez visiter les autres\nwhat is that?",
        "See https://exemple.example/les-aides/pour-vous/est-ce-que for the details of this",
    ],
)
def test_english_is_english_whatever_it_quotes(text: str) -> None:
    assert detect(text, BOTH, (), "fr").code == "en"


@pytest.mark.parametrize(
    "text", ["Wie kann ich das auf dem Rechner installieren?", "¿Cómo puedo instalar esto para la máquina? Gracias"]
)
def test_a_language_that_is_not_in_use_gets_the_default(text: str) -> None:
    assert detect(text, BOTH, (), "en").code == "en"


def test_a_forum_with_one_language_never_answers_in_another() -> None:
    assert detect("Pourquoi ça ne marche pas ?", ("en",), ("fr",), "fr").code == "en"


def test_the_guess_tells_why() -> None:
    guess = detect("Pourquoi est-ce que ça ne marche pas ?", BOTH)
    assert guess.confidence > 0.9
    assert "fr" in guess.why
    assert detect("OK", BOTH).why == "too few signs in the text: the default"


@given(st.text(max_size=300), st.lists(st.one_of(st.none(), st.text(max_size=3)), max_size=3), st.text(max_size=3))
def test_the_answer_is_always_an_allowed_language(text: str, fallbacks: list[str | None], default: str) -> None:
    assert detect(text, BOTH, fallbacks, default).code in BOTH
