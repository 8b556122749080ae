"""The gate itself: a message goes in, the first rule whose intent it shows comes out with its fixed reply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import re2

from bot.gate.fold import Folder
from bot.gate.rules import Reply, Rule, load_replies, load_rules
from bot.gate.screen import Screen
from forum.errors import ConfigError

#: Beyond this a message is not read to its end, and so not let in (Discourse's own default limit is 32,000).
MAX_CHARACTERS = 40_000
#: How much of an over-long message's beginning and end is still searched, so that danger gets its help.
_EDGE = 8_000
#: How many words around a match `unless` sees.
_BEFORE, _AFTER = 9, 6
_LITERAL = re2.compile(r"([a-z]{2,})(\??)")


@dataclass(frozen=True, kw_only=True, slots=True)
class GateDecision:
    """Whether a message may go on; if not, by which rule and with what reply."""

    allowed: bool
    rule: str | None = None
    intent: str | None = None
    #: In the language asked for.
    reply: str | None = None
    #: For the trace: the words that matched, folded.
    reason: str = "no rule matched"


@dataclass(frozen=True, slots=True)
class _Compiled:
    rule: Rule
    text: str
    matches: Any
    unless: Any

    def excused(self, around: bytes, start: int, end: int) -> bool:
        """Whether `unless` stands in the match or just around it."""
        if self.unless is None:
            return False
        first, last = b" ".join(around[:start].split()[-_BEFORE:]), b" ".join(around[end:].split()[:_AFTER])
        return self.unless.search(first + b" " + around[start:end] + b" " + last) is not None


class Gate:
    """Deterministic: regular expressions (re2, linear time) on the intent of a message; no model, no IO."""

    def __init__(self, rules: Iterable[Rule], replies: Mapping[str, Reply]) -> None:
        """Raises ConfigError when the reply for over-long messages is missing, or a pattern needs no word."""
        if "too_long" not in replies:
            raise ConfigError("the gate's replies lack the key 'too_long'; add it in English and French")
        self._replies = dict(replies)
        self._patterns = tuple(each for rule in rules for each in _compiled(rule))
        self._screen = Screen(each.text for each in self._patterns)
        self._folder = Folder({*self._screen.words, *_literals(self._patterns)})

    @classmethod
    def from_files(cls, folder: Path = Path(__file__).parent) -> Gate:
        """The gate of `rules.yml` and `replies.yml` in `folder`. Raises ConfigError: file, rule and mend."""
        replies = load_replies(folder / "replies.yml")
        rules = load_rules(folder / "rules.yml", replies)
        return cls(rules, replies)

    def check(self, text: str, language: str) -> GateDecision:
        """Decide on `text`, a member's own words; `language` ("en", "fr") chooses the reply, never the rules.

        Up to MAX_CHARACTERS the whole text is searched. A longer one is searched at both ends (so that a person
        in danger is pointed to help) and refused in any case: nothing can hide behind padding.
        """
        if len(text) <= MAX_CHARACTERS:
            return self._searched(text, language)
        edges = f"{text[:_EDGE]}\n\n{text[-_EDGE:]}"
        decision = self._searched(edges, language)
        if not decision.allowed:
            return decision
        return GateDecision(
            allowed=False,
            rule="too-long",
            reply=self._reply("too_long", language),
            reason=f"{len(text)} characters, the limit is {MAX_CHARACTERS}",
        )

    def _searched(self, text: str, language: str) -> GateDecision:
        for view in self._folder.views(text):
            if hit := self._hit(view):
                return self._stopped(*hit, language)
        return GateDecision(allowed=True)

    def _hit(self, words: list[bytes]) -> tuple[Rule, bytes] | None:
        for number, runs in self._screen.places(words):
            pattern = self._patterns[number]
            for start, end in runs:
                before = max(0, start - _BEFORE)
                around = b" ".join(words[before : end + _AFTER])
                found = pattern.matches.search(around)
                while found and pattern.excused(around, found.start(), found.end()):
                    found = pattern.matches.search(around, found.end())
                if found:
                    return pattern.rule, found[0]
        return None

    def _stopped(self, rule: Rule, words: bytes, language: str) -> GateDecision:
        return GateDecision(
            allowed=False,
            rule=rule.id,
            intent=rule.intent,
            reply=self._reply(rule.reply, language),
            reason=f"{rule.intent}: {words.decode('ascii', 'replace').strip(' .')[:80]}",
        )

    def _reply(self, key: str, language: str) -> str:
        reply = self._replies[key]
        return reply.fr if language == "fr" else reply.en


@cache
def load_gate() -> Gate:
    """The gate of the package's own files, made once a process. Raises ConfigError."""
    return Gate.from_files()


def _compiled(rule: Rule) -> Iterator[_Compiled]:
    unless = _regex("|".join(f"(?:{p})" for p in rule.unless)) if rule.unless else None
    for pattern in rule.patterns:
        yield _Compiled(rule, pattern, _regex(pattern), unless)


def _literals(patterns: Iterable[_Compiled]) -> Iterator[str]:
    """The words in the patterns; of `words?` both."""
    for each in patterns:
        for word, optional in _LITERAL.findall(each.text):
            yield word
            if optional:
                yield word[:-1]


def _regex(pattern: str) -> Any:
    options: Any = re2.Options()
    options.max_mem = 32 << 20
    options.never_capture = True
    return re2.compile(pattern.encode(), options)
