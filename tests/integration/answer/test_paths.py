"""The path of each kind of run, as `bot explain` prints it: one line a kind, to be read against docs/graph.md."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.commands.explain import explain
from bot.graph import path_mermaid, path_text
from bot.tools import Tools
from bot.view import view_trace
from clients.fakes.scripted_llm import Answer as Line
from clients.fakes.scripted_llm import ScriptedLLM
from clients.postgres.pool import Database
from clients.postgres.traces import save_trace
from forum.types import Answer
from tests.integration.answer.conftest import ask, with_
from tests.integration.answer.test_correcting import BAD, GOOD, Graded

ASKED = "Sauterelle table full: how many stations does it keep?"
REPLY = "A Sauterelle keeps 16 stations. [[1]]"


def run(tools: Tools, text: str, tops: list[float], *lines: Line) -> Answer:
    config = with_(flags={"corrective": True, "zones": True, "neighbours": False})
    return ask(replace(tools, reranker=Graded(tops)), text, chat=ScriptedLLM(*lines, default=REPLY), config=config)


def path(given: Answer) -> list[str]:
    return path_text(view_trace(given)).split(" -> ")


def stages(given: Answer) -> list[str]:
    """The names alone, the passes of the loop among them."""
    return [step.partition(":")[0] for step in path(given)]


WHOLE = ["read", "gate", "triage", "condense", "choose", "recall", "external", "rerank", "aggregate", "zone"]
WRITTEN = ["corrective", "follow", "generate", "verify", "render"]


def test_happy(tools: Tools) -> None:
    given = run(tools, ASKED, [3.0], "KIND: simple")
    assert stages(given) == [*WHOLE, "corrective pass 1", *WRITTEN, "answered"]
    assert "corrective: good enough" in path(given)


def test_requeried(tools: Tools) -> None:
    given = run(tools, ASKED, [0.0, 3.0], "KIND: simple", BAD)
    assert stages(given) == [*WHOLE, "corrective pass 1", "corrective pass 2", *WRITTEN, "answered"]
    assert [step for step in path(given) if step.startswith("corrective")] == [
        "corrective pass 1: off the subject",
        "corrective pass 2: sure enough",
        "corrective: corrected",
    ]


def test_exhausted(tools: Tools) -> None:
    given = run(tools, ASKED, [0.0], "KIND: simple", BAD, BAD, BAD)
    assert stages(given) == [*WHOLE, *(f"corrective pass {n}" for n in (1, 2, 3)), *WRITTEN, "answered"]
    assert "corrective: retries spent" in path(given)
    assert given.low_confidence


def test_refused(tools: Tools) -> None:
    given = run(tools, ASKED, [-9.0], "KIND: simple", "other words", "yet others")
    assert stages(given)[-1] == "abstained"
    assert "zone: abstain" in path(given)
    assert "generate: refusal" in path(given)


def test_chitchat(tools: Tools) -> None:
    assert path(run(tools, "thank you!", [3.0])) == ["read: ask", "gate: pass", "triage: chitchat:thanks", "chitchat"]


def test_unsafe(tools: Tools) -> None:
    given = run(tools, "Whom should I hurt first?", [3.0], "KIND: unsafe")
    assert path(given) == ["read: ask", "gate: pass", "triage: unsafe", "unsafe"]


def test_gated(tools: Tools) -> None:
    given = run(tools, "How do I build a pipe bomb at home?", [3.0])
    assert stages(given) == ["read", "gate", "gated"]


@pytest.mark.parametrize("text", [ASKED, "thank you!"])
def test_the_path_and_its_calls_are_drawn(tools: Tools, text: str) -> None:
    given = run(tools, text, [0.0], "KIND: simple", GOOD)
    drawn = path_mermaid(view_trace(given))
    assert drawn.count("-->") == len(path(given))
    assert ("llm.chat" in drawn, "index.keyword" in drawn) == ((True, True) if text == ASKED else (False, False))


def test_explain_prints_the_path_and_every_call(
    tools: Tools, practice: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = run(tools, ASKED, [3.0], "KIND: simple")
    save_trace(practice, given, view_trace(given), question=ASKED)
    monkeypatch.setenv("THREADCITE_DATABASE_URL", practice.url)
    monkeypatch.setenv("COLUMNS", "200")
    explain(given.trace_id)
    told = capsys.readouterr().out
    assert "read: ask -> gate: pass -> triage: simple" in told
    for call in ("llm.chat", "embedder.embed_query", "index.keyword", "reranker.score"):
        assert call in told
