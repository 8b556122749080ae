"""The words of the admin pages in English and French, from wording.yml, and of the config's keys in French."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

LANGUAGES = ("en", "fr")


@cache
def _all() -> Mapping[str, Mapping[str, str]]:
    loaded: Mapping[str, Mapping[str, str]] = yaml.safe_load(Path(__file__).with_name("wording.yml").read_bytes())
    return loaded


def words(key: str, language: str, **fields: Any) -> str:
    """The words `key`, with its fields filled in. Raises KeyError for a key that the file lacks."""
    return _all()[key][language].format(**fields)


def has_words(key: str) -> bool:
    return key in _all()


@cache
def keys_in_french() -> Mapping[str, str]:
    """Dotted key of the config -> what it does."""
    loaded: Mapping[str, str] = yaml.safe_load(Path(__file__).with_name("keys.fr.yml").read_bytes())
    return loaded
