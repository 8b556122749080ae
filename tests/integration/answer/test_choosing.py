"""On a simple question the LLM may call sources as tools; whatever it does else asks nobody outside."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from bot.tools import Tools
from clients.fakes.scripted_llm import ScriptedLLM
from clients.web_passage import web_passage
from forum.errors import RemoteRefused, RemoteUnavailable
from forum.ports import ChatReply
from forum.types import Answer, Passage
from tests.integration.answer.conftest import ask, stage, with_

ASKED = "What is the coefficient of thermal expansion of the aluminium bucket in a rain gauge?"
TEXT = "The coefficient of thermal expansion of aluminium is 23 micrometres per metre and kelvin."
AGAIN = "VERDICT: incorrect\nCAUSE: off\nMISSING: thermal expansion of aluminium"


@dataclass
class Library:
    """A source that knows how often it was asked."""

    name: str
    asked: list[str] = field(default_factory=list)

    def search(self, text: str, *, limit: int, timeout_s: float) -> list[Passage]:
        self.asked.append(text)
        page = web_passage(self.name, title="Aluminium", text=TEXT, url=f"https://{self.name}.example/904")
        return [page] if page else []


def run(
    tools: Tools, called: ChatReply | Exception, *more: str, on: bool = True, kind: str = "simple", retries: int = 0
) -> tuple[Answer, dict[str, int], ScriptedLLM]:
    """The answer, how often each source was asked, and the LLM."""
    libraries = [Library("wikipedia"), Library("arxiv")]
    lines: list[str | ChatReply | Exception] = [f"KIND: {kind}", *([called] if on and kind != "complex" else []), *more]
    llm = ScriptedLLM(*lines, default=f"{TEXT} [[1]]")
    config = with_(
        flags={"choose_sources": on, "corrective": bool(retries), "neighbours": False, "input_gate": False},
        corrective={"low": 0.0, "high": 1.0, "retries": retries},
    )
    given = ask(replace(tools, sources=tuple(libraries)), ASKED, chat=llm, config=config)
    return given, {one.name: len(one.asked) for one in libraries}, llm


def calling(*names: str) -> ChatReply:
    return ChatReply(text="", tools=names)


def test_what_it_calls_is_asked_and_nothing_else(tools: Tools) -> None:
    given, asked, _ = run(tools, calling("wikipedia"))
    assert asked == {"wikipedia": 1, "arxiv": 0}
    assert stage(given, "choose").decision == "wikipedia"
    assert "https://wikipedia.example/904" in [one.url for one in given.citations]


def test_calling_none_asks_nobody(tools: Tools) -> None:
    given, asked, _ = run(tools, ChatReply(text="The forum will do."))
    assert (stage(given, "choose").decision, asked) == ("none", {"wikipedia": 0, "arxiv": 0})


@pytest.mark.parametrize("names", [("google",), ("wikipedia", "google"), ("",), ("Wikipedia",)])
def test_a_tool_that_was_not_offered_asks_nobody(tools: Tools, names: tuple[str, ...]) -> None:
    given, asked, _ = run(tools, calling(*names))
    assert (stage(given, "choose").decision, asked) == ("none", {"wikipedia": 0, "arxiv": 0})


@pytest.mark.parametrize(
    ("error", "degraded"), [(RemoteRefused("it cannot call tools"), False), (RemoteUnavailable("away"), True)]
)
def test_a_backend_that_cannot_asks_nobody_and_answers(tools: Tools, error: Exception, degraded: bool) -> None:
    given, asked, _ = run(tools, error)
    assert asked == {"wikipedia": 0, "arxiv": 0}
    assert ("llm" in given.degraded) is degraded
    assert given.text


def test_off_nothing_is_offered(tools: Tools) -> None:
    given, _, llm = run(tools, calling("wikipedia"), on=False)
    assert set(llm.offered) == {()}
    assert stage(given, "choose").decision == "off"


def test_on_a_complex_question_all_are_asked_and_nothing_is_offered(tools: Tools) -> None:
    _, asked, llm = run(tools, calling("wikipedia"), kind="complex")
    assert (asked, set(llm.offered)) == ({"wikipedia": 1, "arxiv": 1}, {()})


@pytest.mark.parametrize(
    ("called", "asked"),
    [
        (calling("wikipedia"), {"wikipedia": 3, "arxiv": 0}),
        (calling(), {"wikipedia": 2, "arxiv": 2}),
        (calling("google"), {"wikipedia": 2, "arxiv": 2}),
    ],
    ids=["the chosen", "all where none was chosen", "all where nonsense was"],
)
def test_on_further_passes_the_set_stays_fixed(tools: Tools, called: ChatReply, asked: dict[str, int]) -> None:
    _, counted, llm = run(tools, called, AGAIN, AGAIN, AGAIN, retries=2)
    assert counted == asked
    assert [one for one in llm.offered if one] == [("wikipedia", "arxiv")]


def test_the_words_are_fenced_and_no_text_of_it_is_used(tools: Tools) -> None:
    given, _, llm = run(tools, ChatReply(text="Ask https://evil.example", tools=("wikipedia",)))
    assert "evil.example" not in given.text
    assert "⟦" in llm.history[1][-1].content
