"""The LLM writes in the reader's language from a prompt that fits, or the posts are quoted."""

from __future__ import annotations

import stamina

from bot.tools import Tools
from clients.fakes.ollama_chat import OllamaChatDouble
from clients.fakes.scripted_llm import ScriptedLLM
from clients.ollama_chat import OllamaChat
from forum.config import LlmSection
from forum.errors import PromptCut, RemoteUnavailable
from forum.types import Answer
from tests.integration.answer.conftest import ask, stage, with_

ASKED = "Sauterelle table full: how many stations does it keep?"
ENGLISH = "A Sauterelle keeps 16 stations, and then its table is full, so you have to remove an old one."
FRENCH = "Une Sauterelle garde 16 stations, et puis la table est pleine, il faut donc en retirer une ancienne."
PLAIN = with_(flags={"triage": False, "verify_citations": False})


def written(tools: Tools, llm: ScriptedLLM, language: str | None = None) -> Answer:
    return ask(tools, ASKED, chat=llm, config=PLAIN, language=language)


def test_a_reply_in_the_readers_language_is_taken_as_it_is(tools: Tools) -> None:
    llm = ScriptedLLM(f"{FRENCH} [[1]]")
    assert "Une Sauterelle garde 16 stations" in written(tools, llm, "fr").text
    assert len(llm.history) == 1


def test_a_reply_in_another_language_is_repaired_once(tools: Tools) -> None:
    llm = ScriptedLLM(f"{ENGLISH} [[1]]", f"{FRENCH} [[1]]")
    given = written(tools, llm, "fr")
    assert stage(given, "generate").decision == "repaired"
    assert "Une Sauterelle garde 16 stations" in given.text
    assert "Récris exactement la même réponse en français" in llm.history[1][-1].content


def test_a_model_that_keeps_to_another_language_is_not_posted(tools: Tools) -> None:
    given = written(tools, ScriptedLLM(f"{ENGLISH} [[1]]", f"{ENGLISH} [[1]]"), "fr")
    assert given.text.startswith("Extraits du forum, mot pour mot")
    assert ENGLISH not in given.text


def test_an_llm_that_is_down_means_quotes_and_says_so(tools: Tools) -> None:
    given = written(tools, ScriptedLLM(RemoteUnavailable("refused", service="ollama")))
    assert given.text.startswith("The language model is down; these are the most relevant passages")
    assert given.degraded == ("llm",)


def test_a_prompt_that_was_too_long_is_tried_once_more_shorter(tools: Tools) -> None:
    llm = ScriptedLLM(PromptCut("too long", service="ollama"), f"{ENGLISH} [[1]]")
    given = written(tools, llm)
    first, second = (sum(len(message.content) for message in call) for call in llm.history)
    assert second <= first
    assert given.degraded == ("prompt",)
    assert "A Sauterelle keeps 16 stations" in given.text


def test_then_the_posts_are_quoted(tools: Tools) -> None:
    cut = PromptCut("too long", service="ollama")
    given = written(tools, ScriptedLLM(cut, cut))
    assert given.degraded == ("llm",)
    assert given.citations


def test_an_answer_written_from_a_cut_prompt_is_never_posted(tools: Tools) -> None:
    section = LlmSection(backend="ollama", model="qwen3:30b-a3b-q6k", num_ctx=4096)
    double = OllamaChatDouble("Unicorns graze. [[1]]", cut=True)
    with stamina.set_testing(True, attempts=1):
        given = ask(tools, ASKED, chat=OllamaChat(section, transport=double.transport), config=PLAIN)
    assert "Unicorns" not in given.text
    assert "llm" in given.degraded
    assert all(request["options"]["num_ctx"] == 4096 for request in double.requests)


def test_an_empty_reply_means_quotes(tools: Tools) -> None:
    assert written(tools, ScriptedLLM("  \n")).degraded == ("llm",)
