"""A key that stands twice: said with its line, wherever an operator writes YAML."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bot.gate.rules import load_replies
from clients.config_file import parse_config
from forum.errors import ConfigError
from forum.strict_yaml import load


def test_a_flag_that_is_set_twice_is_an_error_not_a_guess() -> None:
    with pytest.raises(ConfigError, match=r"config\.yml, line 3: .*'rerank' stands twice"):
        parse_config(b"flags:\n  rerank: true\n  rerank: false\n", where="config.yml")


def test_a_reply_that_stands_twice_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "replies.yml"
    file.write_text("too_long: {en: a, fr: b}\ntoo_long: {en: c, fr: d}\n", "utf-8")
    with pytest.raises(ConfigError, match="'too_long' stands twice"):
        load_replies(file)


def test_all_else_is_read_as_ever() -> None:
    assert load("a: {b: [1, {b: 2}], c: yes}\n") == {"a": {"b": [1, {"b": 2}], "c": True}}
    with pytest.raises(yaml.YAMLError):
        load("a: !!python/object/apply:os.getcwd []\n")
