"""Families of words that together show an intent: where they stand near each other, by bits, in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

#: The number of words within which chains in any order must end, and that may part two links of a chain.
WITHIN, PART = 14, 4
#: How far beyond a match what excuses it is looked for, in words before and after.
_BEFORE, _AFTER = 4, 6
#: The widest that the screen has levels for.
_WIDEST = 999

_LINK = re.compile(r"(>\d* )?([a-z_|]+)")
_WHOLE = re.compile(r"[a-z_|]+(?: (?:>\d* )?[a-z_|]+)*(?: / (\d+))?(?: - ([a-z_ ]+))?")


@dataclass(frozen=True, slots=True)
class Link:
    """One of these families must stand there, at most `gap` words after the link before."""

    families: tuple[str, ...]
    gap: int
    #: See `_after`.
    steps: tuple[int, ...]

    def places(self, found: Mapping[str, int]) -> int:
        """The places of the families' words, as bits."""
        bits = 0
        for family in self.families:
            bits |= found.get(family, 0)
        return bits


@dataclass(frozen=True, slots=True)
class Combination:
    """`a >3 b`: b at most three words after a. `a b|c >2 d / 20 - e`: a, and b or c and then d, in 20 words, no e near.

    A match ends where its last chain does.
    """

    text: str
    chains: tuple[tuple[Link, ...], ...]
    width: int
    unless: tuple[str, ...]
    #: Every family that is named.
    families: frozenset[str]
    #: See `_after`: the width, and how far around a match what excuses it may stand.
    steps: tuple[int, ...]
    excused_steps: tuple[int, ...]

    def ends(self, found: Mapping[str, int]) -> int:
        """The places of each match's last word, as bits; `found` is the places of each family's words."""
        for chain in self.chains:
            if not chain[-1].places(found):
                return 0
        each = []
        for chain in self.chains:
            ends = chain[0].places(found)
            for link in chain[1:]:
                if not ends:
                    return 0
                ends = _after(ends << 1, link.steps) & link.places(found)
            if not ends:
                return 0
            each.append(ends)
        if len(each) == 1:
            return each[0]
        last = 0
        for bits in each:
            last |= bits
        for bits in reversed(each):  # what is wished last: there is most of it
            last &= _after(bits, self.steps)
            if not last:
                return 0
        return last

    def excused(self, ends: int, excuses: int) -> int:
        """The matches near which no excuse stands."""
        if not ends or not excuses:
            return ends
        return ends & ~(_after(excuses, self.excused_steps) >> _AFTER)


def combination(text: str) -> Combination:
    """Read one. Raises ValueError, which says how one is written."""
    whole = _WHOLE.fullmatch(text)
    if not whole:
        raise ValueError("write families' names: `a b|c`, `a >3 b`, and perhaps ` / 20` or ` - unless` behind them")
    chains: list[list[Link]] = []
    for gap, names in _LINK.findall(text.split(" / ")[0].split(" - ")[0]):
        most = int(gap[1:]) if gap[1:].strip() else PART
        link = Link(tuple(names.split("|")), most, _steps(most - 1))
        if gap:
            chains[-1].append(link)
        else:
            chains.append([link])
    span = max(sum(link.gap for link in chain[1:]) for chain in chains)
    width = int(whole[1]) if whole[1] else span if len(chains) == 1 else WITHIN
    if span + width > _WIDEST:
        raise ValueError(f"write gaps and a width of at most {_WIDEST} words in all")
    unless = tuple((whole[2] or "").split())
    return Combination(
        text=text,
        chains=tuple(map(tuple, chains)),
        width=width,
        unless=unless,
        families=frozenset(unless).union(*(link.families for chain in chains for link in chain)),
        steps=_steps(width),
        excused_steps=_steps(_AFTER + width + _BEFORE),
    )


def _after(bits: int, steps: Iterable[int]) -> int:
    """Every set bit and those after it, as far as the `steps` go (see `_steps`)."""
    for step in steps:
        bits |= bits << step
    return bits


def _steps(width: int) -> tuple[int, ...]:
    """The shifts, each at most by all before it and one, that together make `width`."""
    steps: list[int] = []
    while sum(steps) < width:
        steps.append(min(sum(steps) + 1, width - sum(steps)))
    return tuple(steps)
