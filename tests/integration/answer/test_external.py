"""Sources outside the forum: asked for complex questions only, side by side, cited, and never waited for too long."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Event

from bot.stages.external import gather
from bot.tools import Tools
from clients.fakes.scripted_llm import ScriptedLLM
from clients.web_passage import web_passage
from forum.errors import RemoteRefused
from forum.types import Answer, Passage
from tests.integration.answer.conftest import CONFIG, ask, stage, with_

ASKED = "What is the coefficient of thermal expansion of the aluminium bucket in a rain gauge?"
TEXT = "The coefficient of thermal expansion of aluminium is 23 micrometres per metre and kelvin."


@dataclass
class Library:
    """A source with one page, or with a failure."""

    name: str = "wikipedia"
    fails: bool = False

    def search(self, text: str, *, limit: int, timeout_s: float) -> list[Passage]:
        if self.fails:
            raise RemoteRefused(f"{self.name} answers 404.", service=self.name)
        page = web_passage(self.name, title="Aluminium", text=TEXT, url="https://en.wikipedia.org/?curid=904")
        return [page] if page else []


@dataclass
class Stuck:
    """A source that never answers, whatever its time-out."""

    name: str = "arxiv"
    seconds: float = 30

    def search(self, text: str, *, limit: int, timeout_s: float) -> list[Passage]:
        Event().wait(self.seconds)
        return []


def asked(tools: Tools, sources: Sequence[object], *, kind: str = "complex", **sections: dict[str, object]) -> Answer:
    llm = ScriptedLLM(f"KIND: {kind}", default=f"{TEXT} [[1]]")
    armed = replace(tools, sources=tuple(sources))  # type: ignore[arg-type]
    return ask(armed, ASKED, chat=llm, config=with_(flags={"neighbours": False, "input_gate": False}, **sections))


def test_a_complex_question_is_answered_from_outside_and_says_so(tools: Tools) -> None:
    given = asked(tools, [Library()])
    assert "https://en.wikipedia.org/?curid=904" in [one.url for one in given.citations]
    assert {one.passage.kind for one in given.sources} == {"web", "post"}


def test_a_simple_question_asks_nobody_outside(tools: Tools) -> None:
    given = asked(tools, [Library()], kind="simple")
    assert (stage(given, "external").decision, stage(given, "external").reason) == ("off", "a simple question")


def test_without_sources_nothing_changes(tools: Tools) -> None:
    assert stage(asked(tools, []), "external").decision == "off"


def test_one_that_fails_leaves_the_others(tools: Tools) -> None:
    given = asked(tools, [Library(), Library(name="searxng", fails=True)])
    assert stage(given, "external").data["failed"] == {"searxng": "searxng answers 404."}
    assert "external" not in given.degraded


def test_all_failed_is_a_state_of_its_own(tools: Tools) -> None:
    given = asked(tools, [Library(fails=True)])
    assert stage(given, "external").decision == "all sources failed"
    assert "external" in given.degraded
    assert {one.passage.kind for one in given.sources} == {"post"}


def test_the_answer_never_waits_longer_than_the_time_out_says(tools: Tools) -> None:
    started = time.monotonic()
    found = gather("rain", [Library(), Stuck()], CONFIG, timeout_s=0.5)
    assert time.monotonic() - started < 10
    assert list(found.passages) == ["wikipedia"]
    assert found.failed == {"arxiv": "no answer within 0.5 s"}


def test_a_whole_answer_does_not_wait_for_a_source_that_hangs(tools: Tools) -> None:
    started = time.monotonic()
    given = asked(tools, [Library(), Stuck()], external={"complex_timeout_s": 0.5})
    assert time.monotonic() - started < 20
    assert stage(given, "external").data["failed"] == {"arxiv": "no answer within 0.5 s"}
    assert [(one.service, one.outcome) for one in stage(given, "external").calls if one.call == "search"] == [
        ("wikipedia", "ok"),
        ("arxiv", "unfinished"),
    ]


def test_a_process_ends_while_a_source_still_hangs() -> None:
    script = (
        "from tests.integration.answer.test_external import *\n"
        "print(gather('rain', [Stuck(seconds=300)], CONFIG, timeout_s=0.2).failed)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert "no answer within 0.2 s" in done.stdout


def test_further_passes_of_the_corrective_loop_ask_the_same_sources(tools: Tools) -> None:
    seen: list[str] = []

    class Watched(Library):
        def search(self, text: str, *, limit: int, timeout_s: float) -> list[Passage]:
            seen.append(text)
            return super().search(text, limit=limit, timeout_s=timeout_s)

    llm = ScriptedLLM("KIND: simple", "VERDICT: incorrect\nCAUSE: off\nMISSING: thermal expansion of aluminium")
    armed = replace(tools, sources=(Watched(),))
    config = with_(
        flags={"corrective": True, "neighbours": False, "input_gate": False},
        corrective={"low": 0.0, "high": 1.0, "retries": 1},
    )
    ask(armed, ASKED, chat=llm, config=config)
    assert seen == ["thermal expansion of aluminium"]
