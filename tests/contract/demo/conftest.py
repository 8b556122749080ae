"""A practice forum on a free port for each test, with a tiny content of its own, and a client for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from demo.runner import ADMIN_KEY, BOT_KEY, PracticeForum

CONTENT = Path(__file__).parent / "content"


@pytest.fixture
def forum() -> Iterator[PracticeForum]:
    with PracticeForum(content=CONTENT) as running:
        yield running


@pytest.fixture
def client(forum: PracticeForum) -> Iterator[Callable[..., httpx.Client]]:
    """client() is anonymous, client("mara") acts as a member, client("threadcite") has the bot's own key."""
    yield from _clients(forum)


@pytest.fixture(scope="session")
def reading() -> Iterator[Callable[..., httpx.Client]]:
    """As `client`, for a forum that all tests share which only read."""
    with PracticeForum(content=CONTENT) as shared:
        yield from _clients(shared)


def _clients(forum: PracticeForum) -> Iterator[Callable[..., httpx.Client]]:
    clients: list[httpx.Client] = []

    def make(name: str = "") -> httpx.Client:
        key = BOT_KEY if name == "threadcite" else ADMIN_KEY
        headers: dict[str, Any] = {"Api-Key": key, "Api-Username": name} if name else {}
        clients.append(httpx.Client(base_url=forum.url, headers=headers, timeout=10, trust_env=False))
        return clients[-1]

    yield make
    for one in clients:
        one.close()
