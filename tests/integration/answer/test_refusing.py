"""A refusal is the same whichever stage refuses, and without passages nothing is asked of a model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.composition import build_tools
from bot.tools import Tools
from clients.fakes.scripted_llm import ScriptedLLM
from clients.postgres.pool import Database
from forum.types import Answer, Evaluation, Route, Zone
from tests.integration.answer.conftest import CONFIG, ask, with_

ASKED = "How do I calibrate the tipping bucket rain gauge?"
QUIET = with_(triage={"llm": False}, flags={"neighbours": False})
#: Every question is under this threshold.
STRICT = with_(
    triage={"llm": False},
    flags={"zones": True, "neighbours": False},
    reranker={"zones": [{"model": "features", "abstain": 40, "ok": 45}]},
)
LOOPING = with_(triage={"llm": False}, flags={"corrective": True, "neighbours": False}, corrective={"high": 1.0})


def without_passages(database: Database, llm: ScriptedLLM) -> Answer:
    return ask(replace(build_tools(CONFIG, database), chat=llm), ASKED, chat=llm, config=QUIET)


def test_without_passages_the_model_is_not_asked(database: Database) -> None:
    llm = ScriptedLLM(default="It is done with a syringe. [[1]]")
    given = without_passages(database, llm)
    assert llm.history == []
    assert given.evaluation == Evaluation(has_answer=False, confidence=0.0, reason=given.evaluation.reason)
    assert given.evaluation.reason
    assert (given.zone, given.citations) == (Zone.ABSTAIN, ())


def refusals(tools: Tools) -> dict[str, Answer]:
    """The same question refused by each stage that can."""
    return {
        "zone": ask(tools, ASKED, config=STRICT),
        "generate": ask(tools, ASKED, chat=ScriptedLLM(default="NO_ANSWER"), config=QUIET),
        "loop": ask(tools, ASKED, chat=ScriptedLLM(default="NO_ANSWER"), config=LOOPING),
    }


def test_a_refusal_reads_the_same_whichever_stage_refuses(tools: Tools) -> None:
    given = refusals(tools)
    assert {one.text for one in given.values()} == {given["zone"].text}
    assert {(one.route, one.zone, one.citations) for one in given.values()} == {(Route.ABSTAINED, Zone.ABSTAIN, ())}


@pytest.mark.parametrize("stage", ["zone", "generate", "loop"])
def test_a_refusal_says_that_there_is_no_answer(tools: Tools, stage: str) -> None:
    assert refusals(tools)[stage].evaluation.has_answer is False
