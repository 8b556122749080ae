"""The gate itself: a message goes in, the first rule whose intent it shows comes out with its fixed reply."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import re2

from bot.gate.combination import Combination
from bot.gate.fold import Folder
from bot.gate.lexicon import Lexicon
from bot.gate.rules import Reply, Rule, RuleBook, load_replies, load_rules
from forum.errors import ConfigError

#: Beyond this a message is not read to its end, and so not let in (Discourse's own default limit is 32,000).
MAX_CHARACTERS = 40_000
#: How much of an over-long message's beginning and end is still searched, so that danger gets its help.
_EDGE = 8_000


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


class Gate:
    """Deterministic, in linear time: families of words that stand together, and re2; no model, no IO."""

    def __init__(self, book: RuleBook, replies: Mapping[str, Reply]) -> None:
        """Raises ConfigError when the reply for over-long messages is missing."""
        if "too_long" not in replies:
            raise ConfigError("the gate's replies lack the key 'too_long'; add it in English and French")
        self._replies = dict(replies)
        self._book = book
        every = [each for group in (*book.chains.values(), *(group for _, group in book.rules)) for each in group]
        #: How many segments around a match what excuses it may stand.
        self._beside = max((each.beside for each in every), default=0)
        self._lexicon = Lexicon(book.families)
        #: Without the families that only excuse.
        needed = {name for each in every for name in each.required}
        self._rough = Lexicon({name: phrases for name, phrases in book.families.items() if name in needed})
        self._folder = Folder([word.decode() for word in self._lexicon.words if word.isalnum()])
        self._worded = [(rule, pattern) for rule, _ in book.rules for pattern in rule.patterns]
        self._patterns = re2.Set.SearchSet()
        for _, pattern in self._worded:
            self._patterns.Add(pattern.encode())
        self._patterns.Compile()

    @classmethod
    def from_files(cls, folder: Path = Path(__file__).parent) -> Gate:
        """The gate of `rules.yml` and `replies.yml` in `folder`. Raises ConfigError: file, rule and mend."""
        replies = load_replies(folder / "replies.yml")
        return cls(load_rules(folder / "rules.yml", replies), replies)

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
        outline = self._rough.outline(words)
        possible, where = self._possible(outline.found)
        if possible:
            piece = self._lexicon.piece(outline, outline.stretches(where, self._beside))
            found = piece.found
            for name, chain in self._book.chains.items():
                if ends := _ends(chain, (), found):
                    found[name] = found.get(name, 0) | ends
            for rule, each in possible:
                if ends := _ends((each,), rule.unless, found):
                    return rule, piece.until(ends.bit_length() - 1, each.width)
        text = b" ".join(words) if self._worded else b""
        for number in (self._patterns.Match(text) or ()) if text else ():
            rule, pattern = self._worded[number]
            return rule, re2.search(pattern.encode(), text)[0]
        return None

    def _possible(self, found: dict[str, int]) -> tuple[list[tuple[Rule, Combination]], int]:
        """The combinations that have all their families in a segment (or near, if they are wide), and the segments."""
        for name, chain in self._book.chains.items():
            for each in chain:
                if bits := each.segments(found):
                    found[name] = found.get(name, 0) | bits
        possible, where = [], 0
        for rule, combinations in self._book.rules:
            for each in combinations:
                if bits := each.segments(found):
                    possible.append((rule, each))
                    where |= bits
        return possible, where

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


def _ends(combinations: Iterable[Combination], unless: Iterable[str], found: Mapping[str, int]) -> int:
    union = 0
    for each in combinations:
        if ends := each.ends(found):
            excuses = 0
            for family in (*unless, *each.unless):
                excuses |= found.get(family, 0)
            union |= each.excused(ends, excuses)
    return union
