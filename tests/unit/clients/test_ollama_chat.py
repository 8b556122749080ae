"""Chat through Ollama: what the host's environment and odd servers do, against a double held to the API."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import stamina

from clients.fakes.ollama_chat import OllamaChatDouble
from clients.ollama_chat import OllamaChat
from clients.ollama_connection import connect
from forum.config import LlmSection
from forum.errors import ConfigError, PromptCut, RemoteRefused, RemoteUnavailable
from forum.ports import ChatReply, Message

MODEL = "qwen3:30b-a3b-q6k"


@pytest.fixture(autouse=True)
def _no_pauses() -> Any:
    with stamina.set_testing(True, attempts=3, cap=True):
        yield


def chat(double: OllamaChatDouble, text: str = "Why?", **section: Any) -> ChatReply:
    client = OllamaChat(LlmSection(backend="ollama", **{"model": MODEL, **section}), transport=double.transport)
    return client.chat([Message(role="user", content=text)], timeout_s=5, max_tokens=50)


def test_the_context_window_is_stated_and_truncation_refused() -> None:
    double = OllamaChatDouble("Because.")
    chat(double, num_ctx=4096)
    assert double.requests[0]["options"]["num_ctx"] == 4096
    assert double.requests[0]["truncate"] is False


@pytest.mark.parametrize("value", ["-1", "30", "30m", "0", "1h30m"])
def test_every_way_to_write_keep_alive_works(value: str) -> None:
    assert chat(OllamaChatDouble("Because."), keep_alive=value).text == "Because."


def test_a_prompt_that_was_cut_in_silence_is_noticed() -> None:
    with pytest.raises(PromptCut, match="it was cut"):
        chat(OllamaChatDouble("Because.", cut=True), "It rains in Spain, mainly in the plain. " * 200)


def test_a_prompt_that_the_server_finds_too_long_is_told_from_other_refusals() -> None:
    with pytest.raises(PromptCut):
        chat(OllamaChatDouble("Because."), "rain " * 8000, num_ctx=4096)


def test_a_model_that_was_not_pulled_is_named_with_the_mend() -> None:
    with pytest.raises(RemoteRefused, match="ollama pull qwen9"):
        chat(OllamaChatDouble("Because."), model="qwen9")


def test_too_little_memory_is_permanent() -> None:
    double = OllamaChatDouble(
        "Because.", fails=((500, "model requires more system memory (19 GiB) than is available"),)
    )
    with pytest.raises(RemoteRefused, match="more system memory"):
        chat(double)
    assert len(double.requests) == 1


def test_a_busy_server_is_asked_again() -> None:
    double = OllamaChatDouble("Because.", fails=((503, "server busy, please try again"),))
    assert chat(double).text == "Because."
    assert len(double.requests) == 2


def test_a_server_that_stays_busy_is_given_up() -> None:
    with pytest.raises(RemoteUnavailable, match="busy"):
        chat(OllamaChatDouble("Because.", fails=((503, "server busy"),) * 3))


def test_thinking_is_not_part_of_the_reply() -> None:
    double = OllamaChatDouble("<think>Hmm. The user</think>\nBecause.", thinking="Hmm.")
    assert chat(double, think=True).text == "Because."


def test_an_address_to_listen_on_becomes_one_to_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "0.0.0.0")  # noqa: S104
    assert str(connect("", timeout_s=1)._client.base_url) == "http://127.0.0.1:11434"


def test_a_proxy_does_not_stand_before_a_server_next_door(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    client = connect("http://127.0.0.1:9999", timeout_s=1)
    assert client._client._mounts == {}


def test_a_socks_proxy_in_the_environment_breaks_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bot", "check-config", "config.yml"],
        env={"PATH": "/usr/bin:/bin", "ALL_PROXY": "socks5h://127.0.0.1:9"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_an_address_that_is_none_is_refused_with_its_key() -> None:
    with pytest.raises(ConfigError, match="url: 'ftp://box' is no http address"):
        OllamaChat(LlmSection(backend="ollama", model=MODEL, url="ftp://box"))
