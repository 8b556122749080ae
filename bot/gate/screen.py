"""Which combinations can be in a message at all: all are tried at once, on blocks of places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, chain

import numpy as np
import numpy.typing as npt

from bot.gate.combination import Combination, Link
from bot.gate.lexicon import BLOCK, Occurrences

Rows = npt.NDArray[np.uint64]
#: So far each level spreads a family's blocks, beyond the level before: in all by 0, 1, 2, 4, 8 and 16 blocks.
_SHIFTS = (0, 1, 1, 2, 4, 8)


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
        links = [_before_the_end(each) for each in combinations]
        rows = [
            [level * len(names) + row for row in {row for family in link.families for row in ending[family]}]
            for link, level in chain.from_iterable(links)
        ]
        self._rows = np.array(list(chain.from_iterable(rows)), np.int64)
        #: Where in `_rows` each link begins, and among the links each combination.
        self._links = np.array([0, *accumulate(map(len, rows[:-1]))])
        self._combinations = np.array([0, *accumulate(map(len, links[:-1]))])
        self._levels = range(max((level for _, level in chain.from_iterable(links)), default=0) + 1)

    def possible(self, found: Occurrences) -> list[int]:
        """The numbers of the combinations that can be there."""
        if not len(self._rows):
            return []
        rows = found.blocks()
        levels = [rows]
        for level in self._levels[1:]:
            rows = _spread(rows, _SHIFTS[level])
            levels.append(rows)
        links = np.bitwise_or.reduceat(np.concatenate(levels)[self._rows], self._links)
        return np.flatnonzero(np.bitwise_and.reduceat(links, self._combinations).any(axis=1)).tolist()


def _before_the_end(combination: Combination) -> list[tuple[Link, int]]:
    """Each link, and the level of how far before the match's end it may stand."""
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
