"""config.yml names every key with its default and a comment, and no other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from forum.config import Config
from forum.config_keys import flat

FILE = Path(__file__).resolve().parents[3] / "config.yml"
TEXT = FILE.read_text(encoding="utf-8")
DEFAULTS = flat(Config())
IN_FILE: dict[str, Any] = flat(Config.parse(yaml.safe_load(TEXT)))


def _raw_keys() -> set[str]:
    data = yaml.safe_load(TEXT)
    limits = data["bot"].pop("limits")
    keys = {f"{section}.{key}" for section, values in data.items() for key in values}
    keys |= {name for name in ("collections", "personas") if name in data}
    return keys | {f"bot.limits.{key}" for key in limits}


def test_every_key_stands_in_the_file() -> None:
    assert _raw_keys() == set(DEFAULTS)


@pytest.mark.parametrize("key", DEFAULTS)
def test_the_file_shows_the_default(key: str) -> None:
    assert IN_FILE[key] == DEFAULTS[key]


@pytest.mark.parametrize("key", DEFAULTS)
def test_a_comment_says_what_it_does(key: str) -> None:
    name = re.escape(key.rpartition(".")[2])
    assert re.search(rf"^\s*{name}:.*\s# \S.{{10,}}$", TEXT, re.MULTILINE), key
