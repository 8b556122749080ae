"""Chat with an OpenAI-compatible server, against a double of llama.cpp's and vLLM's route."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
import stamina

from clients.fakes.openai_chat import OpenAIChatDouble
from clients.openai_chat import OpenAIChat
from clients.secrets import Secret
from forum.config import LlmSection
from forum.errors import PromptCut, RemoteRefused, RemoteUnavailable
from forum.ports import ChatReply, Message


@pytest.fixture(autouse=True)
def _no_pauses() -> Any:
    with stamina.set_testing(True, attempts=3, cap=True):
        yield


def chat(transport: httpx.BaseTransport, text: str = "Why?", *, key: Secret | None = None, most: int = 50) -> ChatReply:
    client = OpenAIChat(LlmSection(backend="openai", url="http://127.0.0.1:8080"), key=key, transport=transport)
    return client.chat([Message(role="user", content=text)], timeout_s=5, max_tokens=most)


def test_a_reply_comes_with_its_counts() -> None:
    reply = chat(OpenAIChatDouble("Because.").transport)
    assert (reply.text, reply.done_reason, reply.output_tokens) == ("Because.", "stop", 1)


def test_a_reply_at_the_limit_says_so() -> None:
    assert chat(OpenAIChatDouble("one two three four").transport, most=2).done_reason == "length"


def test_a_prompt_over_the_context_is_told_from_other_refusals() -> None:
    with pytest.raises(PromptCut):
        chat(OpenAIChatDouble("Because.", context=512).transport, "rain " * 1000)


def test_a_prompt_that_was_cut_in_silence_is_noticed() -> None:
    with pytest.raises(PromptCut, match="it was cut"):
        chat(OpenAIChatDouble("Because.", cut=True).transport, "It rains in Spain, mainly in the plain. " * 200)


def test_a_busy_server_is_asked_again() -> None:
    double = OpenAIChatDouble("Because.", fails=((503, "loading model"),))
    assert chat(double.transport).text == "Because."


def test_a_wrong_key_is_a_refusal_that_does_not_show_the_key() -> None:
    double = OpenAIChatDouble("Because.", key="right")
    with pytest.raises(RemoteRefused, match="401") as refused:
        chat(double.transport, key=Secret("wrong-and-secret"))
    assert "wrong-and-secret" not in str(refused.value)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"choices": []}', b'{"choices": [{"message": null}]}', b"null"]
)
def test_an_answer_that_is_none_is_a_refusal(body: bytes) -> None:
    with pytest.raises(RemoteRefused):
        chat(httpx.MockTransport(lambda _: httpx.Response(200, content=body)))


def test_a_server_that_does_not_answer_is_unavailable() -> None:
    def hang(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("slow", request=request)

    with pytest.raises(RemoteUnavailable, match="did not answer within 5 s"):
        chat(httpx.MockTransport(hang))
