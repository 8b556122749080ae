"""The gate itself: a message goes in, the first rule whose intent it shows comes out with its fixed reply."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from itertools import compress, groupby
from operator import itemgetter, or_
from pathlib import Path

import numpy as np
import re2

from bot.gate.combination import Combination
from bot.gate.fold import Folder
from bot.gate.lexicon import Lexicon, Occurrences
from bot.gate.rules import Reply, Rule, RuleBook, load_replies, load_rules
from bot.gate.screen import Screen
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
        self._lexicon = Lexicon(book.families)
        self._chained = [(name, each) for name, group in book.chains.items() for each in group]
        self._ruled = [(rule, each) for rule, group in book.rules for each in group]
        every = [each for _, each in (*self._chained, *self._ruled)]
        self._screen = Screen(self._lexicon.names, book.chains, every)
        unless = [*([()] * len(self._chained)), *(rule.unless for rule, _ in self._ruled)]
        named = [each.families.union(others) for each, others in zip(every, unless, strict=True)]
        #: Of each combination, what families it is about.
        self._named = np.array([[name in names for name in self._lexicon.names] for names in named])
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
        for words in self._folder.views(text):
            found = self._lexicon.find(words)
            for rule, each, ends in self._hits(found):
                last = ends.bit_length() - 1
                matched = compress(words, (found.word_places >= last - each.width) & (found.word_places <= last))
                return self._stopped(rule, b" ".join(matched), language)
            if self._worded:
                joined = b" ".join(words)
                for number in self._patterns.Match(joined) or ():
                    rule, pattern = self._worded[number]
                    return self._stopped(rule, re2.search(pattern.encode(), joined)[0], language)
        return GateDecision(allowed=True)

    def _hits(self, found: Occurrences) -> Iterator[tuple[Rule, Combination, int]]:
        """The combinations that are in the message, and where each match ends, as bits."""
        tried = self._screen.possible(found)
        first = bisect_left(tried, len(self._chained))
        possible = [self._ruled[at - len(self._chained)] for at in tried[first:]]
        if not possible:
            return
        places = found.places(np.logical_or.reduce(self._named.take(tried, axis=0)))
        chains = [self._chained[at] for at in tried[:first]]
        for name, group in groupby(chains, itemgetter(0)):
            places[name] = reduce(or_, [_ends(each, (), places) for _, each in group], places.get(name, 0))
        for rule, each in possible:
            if ends := _ends(each, rule.unless, places):
                yield rule, each, ends

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


def _ends(combination: Combination, unless: Iterable[str], places: Mapping[str, int]) -> int:
    ends = combination.ends(places)
    if not ends:
        return 0
    excuses = 0
    for family in (*unless, *combination.unless):
        excuses |= places.get(family, 0)
    return combination.excused(ends, excuses)
