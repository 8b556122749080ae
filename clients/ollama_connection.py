"""A connection to Ollama that the host's environment cannot bend, and its errors in our words."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx

from clients.address import is_nearby, service_address
from clients.prompt_cut import is_too_long
from clients.refusal import mend
from clients.tool_calls import cannot_call
from forum.errors import PromptCut, RemoteError, RemoteRefused, RemoteUnavailable

if TYPE_CHECKING:
    import ollama

_SERVICE = "ollama"
_DEFAULT = "http://127.0.0.1:11434"
_PROXIES = ("ALL_PROXY", "all_proxy")
# What Ollama answers with status 500 and will answer again: a restart of the request does not help.
_PERMANENT = ("more system memory", "does not support", "unsupported", "failed to load model", "invalid")


def connect(
    url: str, *, timeout_s: float, transport: httpx.BaseTransport | None = None, whole_prompts: bool = False
) -> ollama.Client:
    """A client with a time-out; nearby servers are reached directly whatever proxy the environment names.

    `whole_prompts`: tell a nearby server to refuse a prompt that does not fit, not to drop its oldest part.
    """
    base = service_address(url or os.environ.get("OLLAMA_HOST", ""), key="url", default=_DEFAULT)
    if base.count(":") == 1:
        base += ":11434" if base.startswith("http://") else ""
    if whole_prompts and (transport is not None or is_nearby(base)):
        transport = _WholePrompts(transport or httpx.HTTPTransport())
    with _without_socks():
        import ollama

        return ollama.Client(
            host=base,
            timeout=httpx.Timeout(timeout_s, connect=min(timeout_s, 5.0)),
            trust_env=not is_nearby(base),
            follow_redirects=False,
            transport=transport,
        )


class _WholePrompts(httpx.BaseTransport):
    """Adds `truncate: false` to chat requests, a field of Ollama's API that its library cannot set."""

    def __init__(self, inner: httpx.BaseTransport) -> None:
        self._inner = inner

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/api/chat"):
            body = {**json.loads(request.read()), "truncate": False}
            headers = {name: value for name, value in request.headers.items() if name.lower() != "content-length"}
            request = httpx.Request(
                request.method, request.url, headers=headers, json=body, extensions=request.extensions
            )
        return self._inner.handle_request(request)

    def close(self) -> None:
        self._inner.close()


def is_busy(error: Exception) -> bool:
    """Worth another try in a moment: the server said that it is busy, not that it took too long."""
    return isinstance(error, RemoteUnavailable) and error.status in (429, 500, 502, 503)


@contextmanager
def _without_socks() -> Iterator[None]:
    """`import ollama` builds a client and fails where a SOCKS proxy is named; ours does not use it."""
    hidden = {name: os.environ.pop(name) for name in _PROXIES if os.environ.get(name, "").startswith("socks")}
    try:
        yield
    finally:
        os.environ.update(hidden)


def keep_alive(value: str) -> str | int:
    """Ollama wants a duration with its unit or a plain number of seconds; "-1" as text is refused by it."""
    text = value.strip()
    return int(text) if text.removeprefix("-").isdigit() else text


@contextmanager
def told_plainly(model: str) -> Iterator[None]:
    """Errors of the client as RemoteUnavailable (worth another try) or RemoteRefused (will fail again)."""
    import ollama

    try:
        yield
    except ollama.ResponseError as error:
        raise _refusal(error, model) from error
    except httpx.TimeoutException as error:
        raise RemoteUnavailable(f"Ollama did not answer in time ({type(error).__name__}).", service=_SERVICE) from error
    except (httpx.HTTPError, ConnectionError) as error:
        raise RemoteUnavailable(
            f"Ollama cannot be reached: {error}. Is `ollama serve` running?", service=_SERVICE
        ) from error
    except (ValueError, TypeError, KeyError) as error:
        raise RemoteRefused(f"Ollama sent an answer that cannot be read: {error}.", service=_SERVICE) from error


def _refusal(error: ollama.ResponseError, model: str) -> RemoteError:
    status, text = error.status_code, str(error.error)[:300]
    if status == 404:
        told = f"Ollama has no model {model}. Type: ollama pull {model}"
        return RemoteRefused(told, service=_SERVICE, status=status, mend=told)
    if status in (408, 429, 500, 502, 503, 504) and not (cannot_call(text) or any(w in text for w in _PERMANENT)):
        return RemoteUnavailable(f"Ollama answered {status}: {text}", service=_SERVICE, status=status)
    if is_too_long(text):
        return PromptCut(f"Ollama refused ({status}): {text}", service=_SERVICE, status=status)
    how = "" if cannot_call(text) else mend(status, text, model=model, keys="the model's name or address in config.yml")
    return RemoteRefused(f"Ollama refused ({status}): {text}", service=_SERVICE, status=status, mend=how)
