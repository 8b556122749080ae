"""The keys that are read once are named as such; no name there is of a key that was removed."""

from __future__ import annotations

import pytest

from forum.config import Config
from forum.config_keys import AT_START, flat, waits_for_start


@pytest.mark.parametrize("name", AT_START)
def test_each_name_is_of_a_key(name: str) -> None:
    assert any(key == name or (name.endswith(".") and key.startswith(name)) for key in flat(Config()))


@pytest.mark.parametrize("key", ["forum.base_url", "embedder.model", "api.concurrency", "metrics.worker_address"])
def test_what_builds_clients_pools_and_ports_waits(key: str) -> None:
    assert waits_for_start(key)


@pytest.mark.parametrize("key", ["bot.mode", "forum.languages", "indexer.opened_category_ids", "admin.language"])
def test_what_is_asked_for_each_decision_does_not_wait(key: str) -> None:
    assert not waits_for_start(key)
