"""The gate's rules as validated data: what rules.yml and replies.yml may hold, and how they are read."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import re2
import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from bot.gate.needs import needs
from forum.errors import ConfigError

Intent = Literal[
    "self_harm",
    "violence",
    "weapons",
    "illegal_trade",
    "doxxing",
    "malware",
    "fraud",
    "minors",
    "prompt_extraction",
    "reroling",
]
Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Pattern = Annotated[str, StringConstraints(min_length=4)]

Model = TypeVar("Model", bound=BaseModel)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Examples(_Strict):
    """Messages that the rule must stop, and harmless ones that it must let pass: both are tests."""

    match: tuple[Text, ...] = Field(min_length=1)
    no_match: tuple[Text, ...] = Field(min_length=1)


class Rule(_Strict):
    """One intent, in English and French; patterns are re2, on folded text (see `bot.gate.fold`)."""

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+$")]
    intent: Intent
    #: Key in replies.yml.
    reply: str
    patterns: tuple[Pattern, ...] = Field(min_length=1)
    #: A match is dropped when one of these is found in it and the five or so words around it.
    unless: tuple[Pattern, ...] = ()
    examples: Examples


class RuleFile(_Strict):
    """rules.yml: `<name>` in a pattern stands for a fragment; a list of strings is their alternation."""

    fragments: dict[str, str | tuple[str, ...]] = {}
    rules: tuple[Rule, ...] = Field(min_length=1)


class Reply(_Strict):
    """One fixed reply in each language."""

    en: Text
    fr: Text


def load_rules(path: Path, replies: Mapping[str, Reply]) -> tuple[Rule, ...]:
    """Read rules.yml -> rules with their fragments filled in.

    Raises ConfigError, which names the file, the rule or key, and the mend.
    """
    read = _rule_file(path)
    fragments: dict[str, str] = {}
    for name, text in read.fragments.items():
        whole = text if isinstance(text, str) else "|".join(text)
        fragments[name] = f"(?:{_filled(whole, fragments, f'{path.name}: fragments.{name}')})"
    rules = tuple(_ready(rule, fragments, path.name) for rule in read.rules)
    for at, rule in enumerate(rules):
        if rule.id in {r.id for r in rules[:at]}:
            raise ConfigError(f"{path.name}: rule {rule.id!r} stands twice; give each rule its own id")
        if rule.reply not in replies:
            raise ConfigError(
                f"{path.name}: rule {rule.id!r}: reply {rule.reply!r} is not in the replies"
                f"{_nearest(rule.reply, replies)}"
            )
    return rules


def load_replies(path: Path) -> dict[str, Reply]:
    """Read a file of replies, key -> Reply. Raises ConfigError."""
    data = _yaml(path)
    return {key: _checked(f"{path.name}: {key}", value, Reply) for key, value in data.items()}


def _ready(rule: Rule, fragments: Mapping[str, str], file: str) -> Rule:
    filled: dict[str, tuple[str, ...]] = {}
    for key, patterns in (("patterns", rule.patterns), ("unless", rule.unless)):
        at = [f"{file}: rule {rule.id!r}: {key}[{n}]" for n in range(len(patterns))]
        filled[key] = tuple(_filled(p, fragments, where) for p, where in zip(patterns, at, strict=True))
        for pattern, where in zip(filled[key], at, strict=True):
            if problem := _problem(pattern):
                raise ConfigError(f"{where}: {problem}")
    for pattern, where in zip(
        filled["patterns"], (f"{file}: rule {rule.id!r}: {p!r}" for p in rule.patterns), strict=True
    ):
        if not needs(pattern).groups:
            raise ConfigError(f"{where}: no word is needed to match; each alternative must hold a whole word")
    return rule.model_copy(update=filled)


def _problem(pattern: str) -> str:
    """What is wrong with a pattern, and the mend; empty when it is good."""
    options: Any = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern.encode(), options)
    except re2.error as error:
        detail = error.args[0] if error.args else error
        return f"not a re2 pattern ({detail!r}); re2 has no look-around and no back-references"
    if compiled.search(b"") or compiled.search(b". a ."):
        return "matches the empty message; a pattern must ask for a word"
    return ""


def _filled(text: str, fragments: Mapping[str, str], where: str) -> str:
    def fill(found: re.Match[str]) -> str:
        if found[1] not in fragments:
            raise ConfigError(f"{where}: unknown fragment <{found[1]}>{_nearest(found[1], fragments)}")
        return fragments[found[1]]

    return re.sub(r"<([a-z_0-9]+)>", fill, text)


def _nearest(name: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    return f"; the nearest is {near[0]!r}" if near else ""


def _rule_file(path: Path) -> RuleFile:
    rules = _yaml(path).get("rules")
    for rule in rules if isinstance(rules, list) else ():
        _checked(f"{path.name}: rule {rule.get('id', '?') if isinstance(rule, dict) else rule!r}", rule, Rule)
    return load_validated(path, RuleFile)


def load_validated(path: Path, model: type[Model]) -> Model:
    """Read a YAML file as `model`. Raises ConfigError, which names the file, the key and the nearest valid one."""
    return _checked(path.name, _yaml(path), model)


def _checked(where: str, value: object, model: type[Model]) -> Model:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        mend = ""
        if first["type"] == "extra_forbidden":
            mend = _nearest(str(first["loc"][-1]), model.model_fields)
        raise ConfigError(f"{where}: {key}: {first['msg']}{mend}") from error


def _yaml(path: Path) -> dict[str, Any]:
    try:
        data = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {error}") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: must hold keys, not {type(data).__name__}")
    return data
