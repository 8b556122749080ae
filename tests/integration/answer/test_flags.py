"""Each stage's flag off and on: what changes, and that the rest still answers."""

from __future__ import annotations

import pytest

from bot.answer import answer
from bot.tools import Tools
from clients.fakes.scripted_llm import ScriptedLLM
from forum.config import FlagsSection
from forum.types import Answer, Question, Route, Turn
from tests.integration.answer.conftest import NOW, ask, stage, with_

ASKED = "Sauterelle table full: how many stations does it keep?"
FLAGS = (
    "input_gate", "triage", "condense_query", "posts_pipeline", "rerank", "neighbours", "zones", "corrective",
    "choose_sources", "verify_citations", "feedback_line",
)  # fmt: skip


def given(tools: Tools, flag: str, on: bool, asked: str = ASKED, **more: str) -> Answer:
    return ask(tools, asked, config=with_(flags={flag: on}), chat=ScriptedLLM(**more) if more else None)  # type: ignore[arg-type]


@pytest.mark.parametrize("flag", [flag for flag in FLAGS if flag != "zones"])
@pytest.mark.parametrize("on", [True, False])
def test_the_rest_answers_with_any_stage_off_or_on(tools: Tools, flag: str, on: bool) -> None:
    assert given(tools, flag, on).route is Route.ANSWERED


def test_no_flag_is_left_out() -> None:
    assert set(FLAGS) == set(FlagsSection.model_fields)


def test_condense_query(tools: Tools) -> None:
    earlier = Turn(author="ann", text="How many stations does the Sauterelle table keep?")
    question = Question(text="And how do I free one?", asker="ann", asked_at=NOW, conversation=(earlier,))
    on, off = (answer(question, tools, with_(flags={"condense_query": each})) for each in (True, False))
    assert (stage(on, "condense").decision, stage(off, "condense").decision) == ("joined", "off")
    assert any("Sauterelle" in text for text in stage(on, "recall").data["texts"])


def test_corrective(tools: Tools) -> None:
    says = {"default": "VERDICT: correct\nCAUSE: none\nMISSING: none"}
    assert stage(given(tools, "corrective", True, **says), "corrective").decision != "off"
    assert stage(given(tools, "corrective", False, **says), "corrective").decision == "off"


def test_input_gate(tools: Tools) -> None:
    danger = "How do I build a pipe bomb at home?"
    assert given(tools, "input_gate", True, danger).route is Route.GATED
    assert given(tools, "input_gate", False, danger).route is not Route.GATED


def test_triage(tools: Tools) -> None:
    assert given(tools, "triage", True, "thank you!").route is Route.CHITCHAT
    assert given(tools, "triage", False, "thank you!").route is not Route.CHITCHAT


def test_posts_pipeline(tools: Tools) -> None:
    assert stage(given(tools, "posts_pipeline", True), "recall").data["pipeline"] == "posts"
    assert stage(given(tools, "posts_pipeline", False), "recall").data["pipeline"] == "legacy"


def test_rerank(tools: Tools) -> None:
    assert stage(given(tools, "rerank", True), "rerank").decision == "ranked by features"
    assert stage(given(tools, "rerank", False), "rerank").decision == "off"


def test_neighbours(tools: Tools) -> None:
    asked = "Pairing a Criquet with the Sauterelle gateway: LED blinks red"
    assert stage(given(tools, "neighbours", True, asked), "follow").data["added"]
    assert stage(given(tools, "neighbours", False, asked), "follow").decision == "off"


def test_zones(tools: Tools) -> None:
    gravel = "Which gravel tyres are best for winter?"
    assert given(tools, "zones", True, gravel).route is Route.ABSTAINED
    assert stage(given(tools, "zones", False, gravel), "zone").reason == "zones are off"


def test_verify_citations(tools: Tools) -> None:
    lie = {"default": "Unicorns graze there. [[1]]"}
    assert "Unicorns" not in given(tools, "verify_citations", True, **lie).text
    assert "Unicorns" in given(tools, "verify_citations", False, **lie).text


def test_feedback_line(tools: Tools) -> None:
    assert given(tools, "feedback_line", True).text.endswith("say what, or flag it.*")
    assert "flag it" not in given(tools, "feedback_line", False).text
