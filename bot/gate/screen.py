"""Where in a message each pattern might match: a message's words as the bits of integers, linear for any message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.gate.needs import needs


@dataclass(frozen=True, slots=True)
class _Need:
    groups: tuple[int, ...]
    width: int


class Screen:
    """A regular expression over all patterns has millions of states that a hostile text can visit; this has none."""

    def __init__(self, patterns: Iterable[str]) -> None:
        """Raises ValueError for a pattern that no word is needed for."""
        numbers: dict[frozenset[str], int] = {}
        needed: list[_Need] = []
        for pattern in patterns:
            need = needs(pattern)
            if not need.groups:
                raise ValueError(f"no word is needed to match {pattern[:60]!r}")
            needed.append(_Need(tuple(numbers.setdefault(g, len(numbers)) for g in need.groups), need.width))
        self._needed = tuple(needed)
        self._groups = len(numbers)
        self._groups_of: dict[bytes, list[int]] = {}
        for group, number in numbers.items():
            for word in group:
                self._groups_of.setdefault(word.encode(), []).append(number)

    @property
    def words(self) -> Iterable[str]:
        """Every word that some pattern needs."""
        return (word.decode() for word in self._groups_of)

    def places(self, words: Sequence[bytes]) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """(pattern's number, the [start, end) runs of words that hold any match of it), for those that may match."""
        found = self._found(words)
        if not found:
            return
        for number, need in enumerate(self._needed):
            near = 0
            for group in need.groups:
                bits = found.get(group, 0)
                near = bits & _after(near, need.width) if near else bits
                if not near:
                    break
            else:
                yield number, _runs(_spread(near, need.width), len(words))

    def _found(self, words: Sequence[bytes]) -> dict[int, int]:
        """The positions of each group's words, as bits."""
        groups_of = self._groups_of
        known = groups_of.keys() & set(words)
        places = dict.fromkeys(known, 0)
        for at, word in enumerate(words):
            if word in known:
                places[word] |= 1 << at
        found: dict[int, int] = {}
        for word, bits in places.items():
            for group in groups_of[word]:
                found[group] = found.get(group, 0) | bits
        return found


def _after(bits: int, width: int) -> int:
    """The `width` positions after every set bit."""
    step, done = 1, 0
    while done < width:
        step = min(step, width - done)
        bits |= bits << step
        done, step = done + step, step * 2
    return bits


def _spread(bits: int, width: int) -> int:
    """Every set bit widened by `width` to both sides."""
    return _after(bits, 2 * width) >> width


def _runs(bits: int, length: int) -> list[tuple[int, int]]:
    runs = []
    written = f"{bits & ((1 << length) - 1):b}"[::-1]
    start = written.find("1")
    while start >= 0:
        end = written.find("0", start)
        end = len(written) if end < 0 else end
        runs.append((start, end))
        start = written.find("1", end)
    return runs
