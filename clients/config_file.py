"""Reads config.yml: safe YAML, one line of error that names file, key and mend."""

from __future__ import annotations

import os
from pathlib import Path

import yaml

from forum.config import Config
from forum.errors import ConfigError
from forum.strict_yaml import load


def config_path() -> Path:
    """THREADCITE_CONFIG, or config.yml in the working folder."""
    return Path(os.environ.get("THREADCITE_CONFIG") or "config.yml")


def load_config(path: Path | None = None) -> Config:
    """The validated config. An empty file is refused: it is not "all defaults".

    Raises ConfigError. A missing file is an error only where the path was given by hand or environment.
    """
    given = path is not None or "THREADCITE_CONFIG" in os.environ
    path = path or config_path()
    if not given and not path.exists():
        return Config()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}.") from error
    return parse_config(content, where=str(path))


def parse_config(content: bytes, *, where: str) -> Config:
    """The validated config of a file's content; `where` names it in the error. Raises ConfigError."""
    try:
        data = load(content)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark else ""
        raise ConfigError(f"{where}{place}: not valid YAML: {getattr(error, 'problem', None) or error}.") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{where}: holds no keys. Write `forum:` and what follows, or start from config.yml.")
    return Config.parse(data, where=where)
