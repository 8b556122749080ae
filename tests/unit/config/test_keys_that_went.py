"""A file of an older version is told what became of a key."""

from __future__ import annotations

import pytest

from forum.config import Config
from forum.errors import ConfigError


def test_a_key_that_went_is_named_with_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r"^config.yml: indexer.long_posts is no key any more: .*delete the line\.$"):
        Config.parse({"indexer": {"long_posts": False}})


def test_a_key_that_never_was_is_told_from_it() -> None:
    with pytest.raises(ConfigError, match=r"unknown key indexer.long_post\."):
        Config.parse({"indexer": {"long_post": False}})
