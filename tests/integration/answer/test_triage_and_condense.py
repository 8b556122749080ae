"""What kind of message it is, and what a follow-up is about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.answer import answer
from bot.tools import Tools
from clients.fakes.scripted_llm import ScriptedLLM
from forum.errors import RemoteUnavailable
from forum.types import Answer, Question, Route, Turn
from tests.integration.answer.conftest import CONFIG, NOW, ask, stage, with_

ASKED = "Sauterelle table full: how many stations does it keep?"
CHAIN = (
    Turn(author="ann", text="How do I pair a Criquet with the Sauterelle gateway?"),
    Turn(author="threadcite", text="Hold PAIR for 7 seconds.", is_bot=True),
)


def follow_up(tools: Tools, text: str, llm: ScriptedLLM | None = None, *, on: bool = True) -> Answer:
    question = Question(text=text, asker="ann", asked_at=NOW, conversation=CHAIN)
    return answer(question, replace(tools, chat=llm), with_(flags={"triage": False, "condense_query": on}))


def test_a_greeting_needs_no_model(tools: Tools) -> None:
    llm = ScriptedLLM()
    assert ask(tools, "hello there!", chat=llm).route is Route.CHITCHAT
    assert not llm.history


@pytest.mark.parametrize(("line", "route"), [("KIND: chitchat", Route.CHITCHAT), ("KIND: unsafe", Route.UNSAFE)])
def test_the_models_word_ends_chitchat_and_abuse_without_retrieval(tools: Tools, line: str, route: Route) -> None:
    given = ask(tools, ASKED, chat=ScriptedLLM(line))
    assert given.route is route
    assert not given.sources


def test_the_parts_of_a_complex_question_are_looked_for_too(tools: Tools) -> None:
    llm = ScriptedLLM("KIND: complex\nSUB: Sauterelle table size\nSUB: forget a station\nSUB: a\nSUB: one too many")
    given = ask(tools, ASKED, chat=llm)
    assert list(stage(given, "recall").data["texts"])[-3:] == ["Sauterelle table size", "forget a station", "a"]


@pytest.mark.parametrize("said", ["It is simple.", "", "KIND: whatever", RemoteUnavailable("slow", service="llm")])
def test_a_model_that_says_nothing_usable_makes_it_complex_without_parts(tools: Tools, said: str | Exception) -> None:
    given = ask(tools, ASKED, chat=ScriptedLLM(said))
    assert stage(given, "triage").decision == "complex"
    assert given.route is not Route.CHITCHAT


def test_a_follow_up_is_rewritten_to_stand_alone(tools: Tools) -> None:
    llm = ScriptedLLM("How many stations can the Sauterelle keep?\n", default="NO_ANSWER")
    given = follow_up(tools, "And how many fit?", llm)
    assert stage(given, "condense").decision == "condensed"
    assert stage(given, "recall").data["texts"][0] == "How many stations can the Sauterelle keep?"
    assert "Hold PAIR for 7 seconds." in llm.history[0][0].content


def test_without_an_llm_the_earlier_question_is_added(tools: Tools) -> None:
    given = follow_up(tools, "And how many fit?")
    assert "pair a Criquet" in stage(given, "recall").data["texts"][0]


def test_off_a_follow_up_is_asked_as_it_is(tools: Tools) -> None:
    given = follow_up(tools, "And how many fit?", on=False)
    assert stage(given, "recall").data["texts"][0] == "And how many fit?"


def test_a_model_that_is_down_does_not_stop_a_follow_up(tools: Tools) -> None:
    down = RemoteUnavailable("down", service="llm")
    given = follow_up(tools, "And how many stations fit?", ScriptedLLM(down, down))
    assert given.degraded == ("llm",)
    assert given.citations


def test_a_long_chain_is_cut_to_the_context_and_the_question_stays(tools: Tools) -> None:
    llm = ScriptedLLM("stations", default="NO_ANSWER", context_tokens=1024)
    chain = tuple(Turn(author="ann", text="long reply " * 500) for _ in range(10))
    question = Question(text="And how many fit?", asker="ann", asked_at=NOW, conversation=chain)
    answer(question, replace(tools, chat=llm), with_(flags={"triage": False}))
    assert len(llm.history[0][0].content) < 3 * 1024
    assert "And how many fit?" in llm.history[0][0].content


def test_an_ordinary_question_is_not_condensed(tools: Tools) -> None:
    assert stage(ask(tools, ASKED, config=CONFIG), "condense").decision == "as asked"
