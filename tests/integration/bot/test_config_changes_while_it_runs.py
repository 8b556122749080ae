"""What a change of config.yml leaves behind, and which tools follow it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.live_tools import LiveTools
from bot.tools import Tools
from clients.config_watch import LiveConfig
from clients.postgres.config_history import ConfigHistory
from clients.postgres.ledger import Ledger
from clients.postgres.pool import Database
from forum.config import Config
from forum.errors import ConfigError


class Reranker:
    model_id = "features"


def built(config: Config, _: Database) -> Tools:
    if config.llm.model == "missing":
        raise ConfigError("llm.model: no such model")
    none: Any = object()
    return Tools(index=none, embedder=none, reranker=Reranker(), chat=config.llm)  # type: ignore[arg-type]


def watched(path: Path, database: Database) -> LiveConfig:
    return LiveConfig(path, tell=ConfigHistory(database).note)


def save(live: LiveConfig, path: Path, text: str) -> None:
    path.write_text(text)
    for _ in range(2):
        live.look()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "config.yml"
    path.write_text("bot: {mode: shadow}\n")
    return path


def test_two_processes_write_a_change_down_once(path: Path, database: Database) -> None:
    web, worker = watched(path, database), watched(path, database)
    for _ in range(3):
        web.look()
        worker.look()
    path.write_text("bot: {mode: live}\n")
    for _ in range(3):
        web.look()
        worker.look()
    rows = ConfigHistory(database).rows()
    assert [row["changed"] for row in rows] == [{"bot.mode": ["shadow", "live"]}, {}]
    assert rows[0]["owner"]


def test_a_refused_file_degrades_readiness_until_it_is_mended(path: Path, database: Database) -> None:
    live = watched(path, database)
    save(live, path, "bot: {mod: live}\n")
    state = {row["name"]: row for row in Ledger(database).health()}["config"]
    assert state["state"] == "refused"
    assert "Did you mean bot.mode?" in state["detail"]
    save(live, path, "bot: {mode: shadow}\n")
    assert {row["name"]: row["state"] for row in Ledger(database).health()}["config"] == "ok"


def test_since_when_a_flag_is_on_is_known(path: Path, database: Database) -> None:
    live = watched(path, database)
    live.look()
    save(live, path, "bot: {mode: shadow}\nflags: {corrective: true}\n")
    assert list(ConfigHistory(database).since()) == ["flags.corrective"]


def test_no_credentials_of_an_address_are_kept(path: Path, database: Database) -> None:
    live = watched(path, database)
    live.look()
    save(live, path, "bot: {mode: shadow}\nllm: {url: 'http://me:hidden@models:1'}\n")
    assert "hidden" not in str(ConfigHistory(database).rows())


def test_a_flag_needs_no_new_tools(path: Path, database: Database) -> None:
    live = LiveConfig(path)
    tools = LiveTools(live, database, build=built)
    before = tools()
    save(live, path, "flags: {triage: false}\n")
    after = tools()
    assert after.tools is before.tools
    assert not after.config.flags.triage


def test_another_model_is_taken_up_without_a_restart(path: Path, database: Database) -> None:
    live = LiveConfig(path)
    tools = LiveTools(live, database, build=built)
    before = tools()
    save(live, path, "llm: {backend: ollama, model: qwen3}\n")
    assert tools().tools is not before.tools
    assert tools().config.llm.model == "qwen3"


def test_a_model_that_cannot_be_had_leaves_the_old_one_and_says_why(path: Path, database: Database) -> None:
    live = LiveConfig(path)
    tools = LiveTools(live, database, build=built)
    before = tools()
    save(live, path, "llm: {backend: ollama, model: missing}\nflags: {triage: false}\n")
    assert tools().tools is before.tools
    assert "no such model" in tools().problem
    save(live, path, "llm: {backend: ollama, model: qwen3}\n")
    assert tools().problem == ""
