"""`bot mcp`, asked by the SDK's own client."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from bot.tools import Tools
from clients.postgres.pool import Database
from forum.config import Config

pytest.importorskip("mcp", reason="needs the `mcp` extra")

from mcp import Client, StdioServerParameters

from bot.live_tools import Equipped
from bot.mcp_server import mcp_server

Ask = Callable[[Client], Awaitable[Any]]


@pytest.fixture
def asked(database: Database, tools: Tools, config: Config, kites: None) -> Callable[[Ask], Any]:
    """What the client's call returns, on a server in this process."""
    server = mcp_server(database, lambda: Equipped(tools=tools, config=config))

    async def run(ask: Ask) -> Any:
        async with Client(server) as client:
            return await ask(client)

    return lambda ask: asyncio.run(run(ask))


def test_it_offers_two_tools(asked: Callable[[Ask], Any]) -> None:
    listed = asked(lambda client: client.list_tools())
    assert {tool.name for tool in listed.tools} == {"search_forum", "ask_forum"}


def test_search_gives_addresses_best_first(asked: Callable[[Ask], Any]) -> None:
    given = asked(lambda client: client.call_tool("search_forum", {"query": "how to wash a ripstop sail"}))
    results = given.structured_content["results"]
    assert results[0]["url"].endswith("/t/topic-3/3/1")
    assert len(results) > 1


def test_an_answer_has_the_keys_of_the_contract(asked: Callable[[Ask], Any]) -> None:
    given = asked(lambda client: client.call_tool("ask_forum", {"question": "Which knot for the bridle of a kite?"}))
    assert given.structured_content["citations"][0]["topic_id"] == 1


def test_what_is_not_public_is_neither_found_nor_answered(asked: Callable[[Ask], Any], database: Database) -> None:
    with database.connection() as connection:
        connection.execute("UPDATE category SET read_restricted = true WHERE id = 2")
    found = asked(lambda client: client.call_tool("search_forum", {"query": "varnish for a cello", "limit": 25}))
    assert "cello" not in str(found.structured_content).lower()


def test_an_unknown_persona_is_an_error_with_the_names(asked: Callable[[Ask], Any]) -> None:
    given = asked(lambda client: client.call_tool("ask_forum", {"question": "a?", "persona": "nobody"}))
    assert given.is_error
    assert "must be one of threadcite" in given.content[0].text


@pytest.mark.slow
def test_the_command_speaks_over_standard_input_and_output(database: Database, kites: None, tmp_path: Path) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "bot", "mcp"],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "THREADCITE_DATABASE_URL": database.url, "THREADCITE_DATA": str(tmp_path)},
    )

    async def run() -> Any:
        async with Client(server, read_timeout_seconds=120) as client:
            return await client.call_tool("search_forum", {"query": "dyneema line strength"})

    assert asyncio.run(run()).structured_content["results"][0]["url"].endswith("/t/topic-2/2/1")
