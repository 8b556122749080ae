"""A model server that refuses everything is told to the operator with its mend, and with nothing that was sent."""

from __future__ import annotations

import pytest
import stamina

from clients.breaker import Breaker
from clients.fakes.ollama_chat import OllamaChatDouble
from clients.fakes.openai_chat import OpenAIChatDouble
from clients.ollama_chat import OllamaChat
from clients.openai_chat import OpenAIChat
from clients.secrets import Secret
from forum.config import LlmSection
from forum.errors import PromptCut, RemoteRefused, RemoteUnavailable
from forum.ports import ChatModel, Message

ASKED = [Message(role="user", content="my secret tulip")]


def refused(chat: ChatModel) -> RemoteRefused:
    with pytest.raises(RemoteRefused) as caught:
        chat.chat(ASKED, timeout_s=5)
    return caught.value


def openai(*fails: tuple[int, str], key: str = "") -> OpenAIChat:
    double = OpenAIChatDouble("Because.", fails=fails, key=key)
    section = LlmSection(backend="openai", model="qwen9")
    return OpenAIChat(section, key=Secret("wrong"), transport=double.transport)


def ollama(*fails: tuple[int, str], model: str = "qwen9") -> OllamaChat:
    return OllamaChat(
        LlmSection(backend="ollama", model=model),
        transport=OllamaChatDouble("Because.", models=("here",), fails=fails).transport,
    )


def test_a_wrong_key_names_the_variable_to_set() -> None:
    assert "THREADCITE_LLM_API_KEY" in refused(openai(key="right")).mend


@pytest.mark.parametrize(
    ("chat", "says"),
    [
        (openai((404, "model not found: my secret tulip")), "llm.model"),
        (openai((400, "bad template: my secret tulip")), "llm.url"),
        (ollama(), "ollama pull qwen9"),
        (ollama((500, "model requires more system memory (19 GiB)")), "smaller model"),
        (ollama((400, "qwen9 does not support thinking")), "a model that does"),
    ],
)
def test_a_refusal_of_everything_says_how_to_mend_it_without_the_words_that_were_sent(
    chat: ChatModel, says: str
) -> None:
    told = refused(chat).mend
    assert says in told
    assert "tulip" not in told


def test_a_prompt_that_is_too_long_is_no_refusal_of_everything() -> None:
    told = refused(openai((400, "the request exceeds the available context size")))
    assert isinstance(told, PromptCut)
    assert told.mend == ""


def test_the_breaker_keeps_the_mend_until_the_server_answers() -> None:
    breaker = Breaker("x")
    with pytest.raises(RemoteRefused), breaker.guard():
        raise RemoteRefused("no", mend="pull it")
    with pytest.raises(RemoteUnavailable), breaker.guard():
        raise RemoteUnavailable("away")
    with pytest.raises(RemoteRefused), breaker.guard():
        raise RemoteRefused("not this one")
    assert breaker.refusal == "pull it"
    with breaker.guard():
        pass
    assert breaker.refusal == ""


def test_a_refusal_is_not_tried_again() -> None:
    double = OpenAIChatDouble("Because.", fails=((401, "no"),) * 3)
    with stamina.set_testing(True, attempts=3, cap=True):
        refused(OpenAIChat(LlmSection(backend="openai"), transport=double.transport))
    assert len(double.requests) == 1
