"""Tools offered to a chat model: which it calls, whatever it calls, and a server that knows no tools."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
import stamina

from clients.fakes.ollama_chat import OllamaChatDouble
from clients.fakes.openai_chat import OpenAIChatDouble
from clients.ollama_chat import OllamaChat
from clients.openai_chat import OpenAIChat
from clients.tool_calls import called
from forum.config import LlmSection
from forum.errors import RemoteRefused
from forum.ports import ChatReply, Message, Tool

OFFERED = (Tool(name="wikipedia", description="An encyclopaedia."), Tool(name="arxiv", description="Papers."))
Double = type[OllamaChatDouble] | type[OpenAIChatDouble]


@pytest.fixture(autouse=True)
def _no_pauses() -> Any:
    with stamina.set_testing(True, attempts=3, cap=True):
        yield


def client(transport: httpx.BaseTransport, *, openai: bool) -> OllamaChat | OpenAIChat:
    if openai:
        return OpenAIChat(LlmSection(backend="openai"), transport=transport)
    return OllamaChat(LlmSection(backend="ollama", model="qwen3:30b-a3b-q6k"), transport=transport)


def chat(double: OllamaChatDouble | OpenAIChatDouble, *tools: Tool) -> ChatReply:
    made = client(double.transport, openai=isinstance(double, OpenAIChatDouble))
    return made.chat([Message(role="user", content="Why?")], timeout_s=5, tools=tools)


@pytest.mark.parametrize("double", [OllamaChatDouble, OpenAIChatDouble])
def test_the_tools_that_it_calls_come_by_name(double: Double) -> None:
    assert chat(double("", calls=("arxiv", "wikipedia")), *OFFERED).tools == ("arxiv", "wikipedia")


@pytest.mark.parametrize("double", [OllamaChatDouble, OpenAIChatDouble])
def test_a_reply_in_words_calls_none(double: Double) -> None:
    reply = chat(double("The forum knows."), *OFFERED)
    assert (reply.tools, reply.text) == ((), "The forum knows.")


@pytest.mark.parametrize("double", [OllamaChatDouble, OpenAIChatDouble])
def test_each_tool_is_described_as_a_function_without_arguments(double: Double) -> None:
    made = double("No.")
    chat(made, *OFFERED)
    [first, _] = made.requests[0]["tools"]
    assert first["type"] == "function"
    assert first["function"]["name"] == "wikipedia"
    assert first["function"]["parameters"]["properties"] == {}


@pytest.mark.parametrize("double", [OllamaChatDouble, OpenAIChatDouble])
def test_without_tools_the_request_names_none(double: Double) -> None:
    made = double("No.")
    chat(made)
    assert not made.requests[0].get("tools")


@pytest.mark.parametrize("double", [OllamaChatDouble, OpenAIChatDouble])
def test_a_server_that_knows_no_tools_is_asked_once_and_is_not_down(double: Double) -> None:
    made = double("No.", calls=None)
    with pytest.raises(RemoteRefused) as caught:
        chat(made, *OFFERED)
    assert (len(made.requests), caught.value.mend) == (1, "")
    assert chat(made).text == "No."


@pytest.mark.parametrize(
    "tool_calls", ["arxiv", {"name": "arxiv"}, [None], [{"function": "arxiv"}], [{"function": {"name": 7}}]]
)
def test_calls_in_another_form_name_no_tool(tool_calls: object) -> None:
    assert called(tool_calls) == ("",)


def test_no_calls_at_all_are_none() -> None:
    assert called(None) == called([]) == ()
