"""The bot's own sentences, from messages.yml, in the reader's language."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml


@cache
def _all() -> dict[str, dict[str, str]]:
    loaded: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_name("messages.yml").read_bytes())
    return loaded


def message(key: str, language: str, **fields: object) -> str:
    """The sentence `key` in `language`, English where a language lacks it. Raises KeyError for an unknown key."""
    everything = _all()
    return everything.get(language, everything["en"]).get(key, everything["en"][key]).format(**fields)
