"""Secrets from the environment or from files, never from config.yml; their values never reach a repr."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from forum.errors import ConfigError


class Secret:
    """A value that shows itself only through `reveal()`."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return "Secret(***)"

    def __bool__(self) -> bool:
        return bool(self._value)


def read_secrets(name: str, environ: Mapping[str, str] | None = None) -> tuple[Secret, ...]:
    """The values of THREADCITE_<NAME>, or the lines of the file that THREADCITE_<NAME>_FILE names.

    Several values (a rotation) stand one a line, or comma-separated in the variable. Blank values do not count.
    Raises ConfigError when the file cannot be read.
    """
    environ = os.environ if environ is None else environ
    variable = f"THREADCITE_{name}"
    if file := environ.get(f"{variable}_FILE"):
        try:
            text = Path(file).read_text(encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{variable}_FILE: cannot read {file}: {error.strerror}.") from error
        values = text.splitlines()
    else:
        values = environ.get(variable, "").split(",")
    return tuple(Secret(value.strip()) for value in values if value.strip())


def read_secret(name: str, environ: Mapping[str, str] | None = None) -> Secret | None:
    """The first value of `read_secrets`, or None."""
    return next(iter(read_secrets(name, environ)), None)
