"""The gate's rules as validated data: what rules.yml and replies.yml may hold, and how they are read."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import re2
import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from bot.gate.combination import Combination, combination
from bot.gate.spellings import spellings
from forum.errors import ConfigError
from forum.strict_yaml import load

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
    """One intent, in English and French, on folded text (see `bot.gate.fold`)."""

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+$")]
    intent: Intent
    #: Key in replies.yml.
    reply: str
    #: Combinations of families (see `bot.gate.combination`): one is enough.
    when: tuple[Text, ...] = ()
    #: re2, for what only an exact wording tells: one is enough.
    patterns: tuple[Pattern, ...] = ()
    #: Families: a combination is dropped when a word of one stands in it or a few words around it.
    unless: tuple[Text, ...] = ()
    examples: Examples


class RuleFile(_Strict):
    """rules.yml: families of words, chains of families that are families themselves, and the rules."""

    #: Name to entries (see `bot.gate.spellings`), a comma between; `<name>` stands for another family's.
    families: dict[str, str]
    #: Name to combinations, of families and of the chains above.
    chains: dict[str, tuple[Text, ...]] = {}
    rules: tuple[Rule, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class RuleBook:
    """The checked rules, ready to be used."""

    families: Mapping[str, frozenset[tuple[str, ...]]]
    chains: Mapping[str, tuple[Combination, ...]]
    rules: tuple[tuple[Rule, tuple[Combination, ...]], ...]


class Reply(_Strict):
    """One fixed reply in each language."""

    en: Text
    fr: Text


def load_rules(path: Path, replies: Mapping[str, Reply]) -> RuleBook:
    """Read rules.yml. Raises ConfigError, which names the file, the rule or key, and the mend."""
    read = _rule_file(path)
    families: dict[str, frozenset[tuple[str, ...]]] = {}
    for name, text in read.families.items():
        families[name] = frozenset(_phrases(text, families, f"{path.name}: families.{name}"))
    chains: dict[str, tuple[Combination, ...]] = {}
    for name, texts in read.chains.items():
        chains[name] = tuple(_combination(t, {*families, *chains}, f"{path.name}: chains.{name}") for t in texts)
    known = {*families, *chains}
    rules = []
    for at, rule in enumerate(read.rules):
        where = f"{path.name}: rule {rule.id!r}"
        if rule.id in {r.id for r in read.rules[:at]}:
            raise ConfigError(f"{where} stands twice; give each rule its own id")
        if rule.reply not in replies:
            raise ConfigError(f"{where}: reply {rule.reply!r} is not in the replies{_nearest(rule.reply, replies)}")
        if not rule.when and not rule.patterns:
            raise ConfigError(f"{where}: stops nothing; add a combination under 'when'")
        for pattern in rule.patterns:
            if problem := _problem(pattern):
                raise ConfigError(f"{where}: patterns: {pattern!r}: {problem}")
        _named(rule.unless, known, f"{where}: unless")
        rules.append((rule, tuple(_combination(text, known, f"{where}: when") for text in rule.when)))
    return RuleBook(families, chains, tuple(rules))


def load_replies(path: Path) -> dict[str, Reply]:
    """Read a file of replies, key -> Reply. Raises ConfigError."""
    data = _yaml(path)
    return {key: _checked(f"{path.name}: {key}", value, Reply) for key, value in data.items()}


def _phrases(text: str, known: Mapping[str, frozenset[tuple[str, ...]]], where: str) -> Iterator[tuple[str, ...]]:
    for entry in filter(None, map(str.strip, text.split(","))):
        if entry.startswith("<") and entry.endswith(">"):
            _named([entry[1:-1]], known, where)
            yield from known[entry[1:-1]]
            continue
        try:
            yield from spellings(entry)
        except ValueError as error:
            raise ConfigError(f"{where}: {error}") from error


def _combination(text: str, known: Collection[str], where: str) -> Combination:
    try:
        read = combination(text)
    except ValueError as error:
        raise ConfigError(f"{where}: {text!r}: {error}") from error
    _named(sorted(read.families), known, f"{where}: {text!r}")
    return read


def _named(names: Iterable[str], known: Collection[str], where: str) -> None:
    for name in names:
        if name not in known:
            raise ConfigError(f"{where}: unknown family {name!r}{_nearest(name, known)}")


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


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.0)
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
        data = load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {error}") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: must hold keys, not {type(data).__name__}")
    return data
