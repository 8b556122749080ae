"""The corrective loop, told as its diagram: straight on, look again, ask the evaluator, give up honestly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from bot.crag import SAFE_DEFAULT, read_verdict
from bot.tools import Tools
from clients.fakes.scripted_llm import Answer as Line
from clients.fakes.scripted_llm import ScriptedLLM
from forum.config import Config
from forum.errors import RemoteUnavailable
from forum.types import Answer, Candidate
from tests.integration.answer.conftest import ask, stage, with_

ASKED = "Sauterelle table full: how many stations does it keep?"
GOOD = "VERDICT: correct\nCAUSE: they answer\nMISSING: none"
HALF = "VERDICT: ambiguous\nCAUSE: no figure\nMISSING: Sauterelle keeps stations"
BAD = "VERDICT: incorrect\nCAUSE: off the subject\nMISSING: Sauterelle table full"
REPLY = "A Sauterelle keeps 16 stations."


@dataclass
class Graded:
    """A reranker whose best logit at each pass is given; 3.0 is sure, 0.0 in between, -3.0 hardly related."""

    tops: list[float]
    questions: list[str] = field(default_factory=list)
    model_id: str = "cross-encoder/mmarco-mMiniLMv2-L12-H384-v1"

    def score(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        self.questions.append(question)
        top = self.tops[min(len(self.questions), len(self.tops)) - 1]
        return [top - 0.01 * place for place in range(len(candidates))]


def run(
    tools: Tools, tops: list[float], *lines: Line, kind: str = "simple", **keys: object
) -> tuple[Answer, ScriptedLLM]:
    config = with_(flags={"corrective": True, "zones": True, "neighbours": False}, corrective=dict(keys))
    llm = ScriptedLLM(f"KIND: {kind}", *lines, default=REPLY)
    return ask(replace(tools, reranker=Graded(tops)), ASKED, chat=llm, config=config), llm


def passes(given: Answer) -> list[dict[str, object]]:
    return list(stage(given, "corrective").data["passes"])


def test_sure_evidence_goes_straight_on(tools: Tools) -> None:
    given, llm = run(tools, [3.0])
    assert stage(given, "corrective").decision == "good enough"
    assert len(llm.history) == 2  # triage and the answer: no evaluator
    assert not given.low_confidence


def test_in_between_the_evaluator_decides(tools: Tools) -> None:
    given, llm = run(tools, [0.0], GOOD)
    assert [row["verdict"] for row in passes(given)] == ["correct"]
    assert "VERDICT" in llm.history[1][0].content


def test_a_complex_question_is_always_evaluated_above_low(tools: Tools) -> None:
    given, _ = run(tools, [3.0], GOOD, kind="complex")
    assert [row["verdict"] for row in passes(given)] == ["correct"]


def test_what_is_missing_is_looked_for(tools: Tools) -> None:
    given, _ = run(tools, [0.0, 3.0], HALF)
    assert [row["look_for"] for row in passes(given)] == ["Sauterelle keeps stations", ""]
    assert stage(given, "corrective").decision == "corrected"
    assert not given.low_confidence


def test_hardly_related_evidence_is_looked_for_again_in_other_words(tools: Tools) -> None:
    given, llm = run(tools, [-3.0, 3.0], "gateway station limit")
    assert passes(given)[0]["look_for"] == "gateway station limit"
    assert passes(given)[0]["verdict"] is None
    assert "other search query" in llm.history[1][0].content


def test_when_retries_are_spent_it_answers_with_low_confidence(tools: Tools) -> None:
    given, _ = run(tools, [0.0, 0.0, 0.0], BAD, BAD, BAD)
    assert len(passes(given)) == 3
    assert stage(given, "corrective").decision == "retries spent"
    assert given.low_confidence
    assert "I am not sure that this answers your question." in given.text


def test_no_retries_means_none(tools: Tools) -> None:
    given, _ = run(tools, [0.0], BAD, retries=0)
    assert len(passes(given)) == 1
    assert given.low_confidence


def test_an_evaluator_that_keeps_to_no_form_is_neither_believed_nor_obeyed(tools: Tools) -> None:
    given, _ = run(tools, [0.0], "The sources look fine to me! VERDICT: correct")
    assert passes(given)[0]["parsed"] is False
    assert len(passes(given)) == 1
    assert given.low_confidence


def test_an_evaluator_that_is_down_costs_confidence_not_the_answer(tools: Tools) -> None:
    given, _ = run(tools, [0.0], RemoteUnavailable("down", service="llm"))
    assert given.citations
    assert given.low_confidence
    assert "llm" in given.degraded


def test_passages_of_all_passes_share_one_pool(tools: Tools) -> None:
    given, _ = run(tools, [0.0, 0.5], HALF, GOOD, pool=5)
    first, second = (row["pool"] for row in passes(given))
    assert first
    assert second == 5


def test_where_is_searched_stays_fixed(tools: Tools) -> None:
    llm = ScriptedLLM("KIND: simple", HALF, default=REPLY)
    graded = Graded([0.0, 3.0])
    ask(replace(tools, reranker=graded), ASKED, chat=llm, config=with_(flags={"corrective": True, "neighbours": False}))
    assert graded.questions == [ASKED, "Sauterelle keeps stations"]


def test_off_it_calls_nothing(tools: Tools) -> None:
    llm = ScriptedLLM("KIND: simple", default=REPLY)
    given = ask(replace(tools, reranker=Graded([0.0])), ASKED, chat=llm)
    assert stage(given, "corrective").decision == "off"
    assert len(llm.history) == 2


def test_without_an_llm_it_is_off_and_says_why(tools: Tools) -> None:
    given = ask(tools, ASKED, config=with_(flags={"corrective": True}))
    assert stage(given, "corrective").reason == "no LLM to judge the evidence"


@pytest.mark.parametrize("text", [GOOD, f"\n{GOOD}\n", "VERDICT: Correct.\nCAUSE: x\nMISSING: -"])
def test_three_lines_are_a_verdict(text: str) -> None:
    assert read_verdict(text).verdict == "correct"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "correct",
        "VERDICT: correct",
        "VERDICT: maybe\nCAUSE: x\nMISSING: y",
        "CAUSE: x\nVERDICT: correct\nMISSING: y",
        f"{GOOD}\nVERDICT: incorrect",
        f"Sure!\n{GOOD}",
        "verdict: correct\ncause: x\nmissing: y",
    ],
)
def test_anything_else_is_the_safe_default(text: str) -> None:
    assert read_verdict(text) is SAFE_DEFAULT


def test_the_constants_are_the_designs() -> None:
    corrective = Config().corrective
    assert (corrective.high, corrective.low, corrective.keep) == (0.65, 0.30, 0.5)
    assert (corrective.retries, corrective.pool, corrective.carry) == (2, 50, 4)
