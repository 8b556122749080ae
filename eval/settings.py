"""The config of an eval: the file's, with single keys set on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from clients.config_file import load_config
from forum.config import Config
from forum.errors import UsageError


def config_with(settings: Sequence[str]) -> Config:
    """`--set recall.limit=50 --set embedder.backend=tei`: values are YAML. Raises ConfigError, UsageError."""
    data: dict[str, Any] = load_config().model_dump(mode="json")
    for setting in settings:
        path, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"--set {setting!r:.60}: write KEY=VALUE, for example recall.limit=50.")
        place = data
        *parents, last = path.split(".")
        for parent in parents:
            if not isinstance(place.get(parent), dict):
                place[parent] = {}
            place = place[parent]
        try:
            place[last] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise UsageError(f"--set {setting!r:.60}: the value is not valid YAML.") from error
    return Config.parse(data, where="--set")
