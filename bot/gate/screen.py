"""Which combinations can be in a message at all: all are tried at once, on blocks of places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, chain

import numpy as np
import numpy.typing as npt

from bot.gate.combination import Combination, Link
from bot.gate.lexicon import BLOCK, Numbers, Occurrences

Rows = npt.NDArray[np.uint64]


class Screen:
    """A match ends in a block in which, or not far before which, there is a family of every link."""

    def __init__(
        self,
        names: Mapping[str, int],
        chains: Mapping[str, Sequence[Combination]],
        combinations: Sequence[Combination],
    ) -> None:
        """`names` of the families, and their rows; a chain among them is taken for what it ends with."""
        ending = {name: {row} for name, row in names.items()}
        for name, group in chains.items():
            last = {family for each in group for links in each.chains for family in links[-1].families}
            ending[name] = {row for family in {name, *last} for row in ending.get(family, ())}
        self._levels = 1
        rows: dict[tuple[int, ...], int] = {}
        links: list[list[int]] = []
        for each in combinations:
            links.append([])
            for link, level in _before_the_end(each):
                self._levels = max(self._levels, level + 1)
                among = {level * len(names) + row for family in link.families for row in ending[family]}
                links[-1].append(rows.setdefault(tuple(sorted(among)), len(rows)))
        #: The rows of each link, those of the combinations, and where in them each link and each combination begins.
        self._rows, self._row_starts = _in_a_row(list(rows))
        self._links, self._link_starts = _in_a_row(links)

    def possible(self, found: Occurrences) -> list[int]:
        """The numbers of the combinations that can be there."""
        if not len(self._links):
            return []
        rows = found.blocks()
        levels = [rows]
        for level in range(1, self._levels):
            rows = _spread(rows, 1 << max(0, level - 2))
            levels.append(rows)
        links = np.bitwise_or.reduceat(np.concatenate(levels).take(self._rows, 0), self._row_starts)
        there = np.bitwise_and.reduceat(links.take(self._links, 0), self._link_starts)
        numbers: list[int] = np.logical_or.reduce(there, axis=1).nonzero()[0].tolist()
        return numbers


def _before_the_end(combination: Combination) -> list[tuple[Link, int]]:
    """Each link, and how far before the match's end it may stand: level 0 is 0 blocks, 1 is 1, 2 is 2, 3 is 4..."""
    found = []
    for links in combination.chains:
        places = combination.width if combination.chains[1:] else 0
        for link in reversed(links):
            blocks = -(-places // BLOCK)
            found.append((link, (blocks - 1).bit_length() + 1 if blocks else 0))
            places += link.gap
    return found


def _spread(rows: Rows, by: int) -> Rows:
    """Every set bit, and the one so far after it."""
    spread = rows | rows << np.uint64(by)
    spread[:, 1:] |= rows[:, :-1] >> np.uint64(64 - by)
    return spread


def _in_a_row(groups: Sequence[Sequence[int]]) -> tuple[Numbers, Numbers]:
    """The groups' numbers, and where each group begins."""
    starts = [0, *accumulate(map(len, groups))][:-1]
    return np.array(list(chain.from_iterable(groups)), np.int64), np.array(starts, np.int64)
