"""Which families a message's words belong to, and where: roughly, by blocks of places, and exactly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np
import numpy.typing as npt

#: So many places part two sentences: more than a combination within one sentence spans.
SENTENCE = 20
#: Places are first looked at in blocks of so many.
BLOCK = 32
#: Edges are first looked up by their last bits, which few others share.
_LAST_BITS = (1 << 21) - 1
_BITS = np.left_shift(1, np.arange(8)).astype(np.uint8)

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The families in a message's words: of each occurrence its family and the place of its last word."""

    names: Mapping[str, int]
    families: Numbers
    at: Numbers
    #: Of each word.
    word_places: Numbers

    def blocks(self) -> npt.NDArray[np.uint64]:
        """A row of bits for each family: the blocks of places where it is."""
        width = int(self.at.max(initial=0)) // BLOCK // 64 + 1
        marks = np.zeros(len(self.names) * width * 64, bool)
        marks[self.families * (width * 64) + self.at // BLOCK] = True
        return np.packbits(marks, bitorder="little").view("<u8").reshape(-1, width)

    def places(self, wanted: Flags) -> dict[str, int]:
        """The places of the families that are wanted, as bits."""
        among = wanted.take(self.families).nonzero()[0]
        rows = (wanted.cumsum() - 1).take(self.families.take(among))
        width = int(self.at.max(initial=0)) // 8 + 1
        at = self.at.take(among)
        marks = np.zeros(int(wanted.sum()) * width, np.uint8)
        np.bitwise_or.at(marks, rows * width + (at >> 3), _BITS.take(at & 7))
        names = list(self.names)
        return {
            names[family]: int.from_bytes(row, "little")
            for family, row in zip(wanted.nonzero()[0].tolist(), marks.view(f"S{width}").tolist(), strict=True)
        }


class Lexicon:
    """Families of phrases, as a tree: a node for each word, and for each beginning of a longer phrase."""

    def __init__(self, families: Mapping[str, Iterable[tuple[str, ...]]]) -> None:
        """`families`: name to phrases, each of one word or more. `.` is the word that parts sentences."""
        self.names = {name: number for number, name in enumerate(families)}
        complete: dict[tuple[str, ...], list[int]] = {}
        for number, phrases in enumerate(families.values()):
            for phrase in phrases:
                if "." in phrase[1:-1]:
                    continue  # no phrase goes on behind a full stop
                complete.setdefault(phrase, []).append(number)
        vocabulary = sorted({".", *chain.from_iterable(complete)})
        #: Node 0 is any other word.
        nodes: dict[tuple[str, ...], int] = {(word,): node for node, word in enumerate(vocabulary, 1)}
        self._ids = {word.encode(): node for node, word in enumerate(vocabulary, 1)}
        self._stop = self._ids[b"."]
        self._size = len(vocabulary) + 1
        edges: list[int] = []
        for length in range(2, max(map(len, complete), default=0) + 1):
            beginnings = {phrase[:length] for phrase in complete if len(phrase) >= length}
            edge = {phrase: nodes[phrase[:-1]] * self._size + nodes[phrase[-1:]] for phrase in beginnings}
            nodes |= {phrase: at for at, phrase in enumerate(sorted(beginnings, key=edge.__getitem__), len(nodes) + 1)}
            edges += sorted(edge.values())
        #: Ascending; the node behind an edge is its number beyond the vocabulary.
        self._edges = np.array([*edges, np.iinfo(np.int64).max])
        self._likely = np.zeros(_LAST_BITS + 1, bool)
        self._likely[self._edges & _LAST_BITS] = True
        of = [[], *(complete.get(phrase, []) for phrase in nodes)]
        self._families = np.array(list(chain.from_iterable(of)), np.int64)
        self._count = np.array(list(map(len, of)))
        self._until = np.cumsum(self._count)

    @property
    def words(self) -> Iterable[bytes]:
        """Every word of a phrase."""
        return self._ids.keys()

    def find(self, words: Sequence[bytes]) -> Occurrences:
        """The families in a message's words."""
        ids = np.fromiter(map(self._ids.get, words, repeat(0)), np.int64, len(words))
        number = np.arange(len(ids))
        stops = ids == self._stop
        # A full stop closes a sentence at its place, and opens the next one SENTENCE further.
        word_places = number + SENTENCE * (stops.cumsum() - stops)
        nodes, last = self._walk(ids)
        opening = stops.nonzero()[0]
        nodes = np.concatenate([nodes, ids.take(opening)])
        at = np.concatenate([word_places.take(last), word_places.take(opening) + SENTENCE])
        some = self._count.take(nodes).nonzero()[0]
        nodes, at = nodes.take(some), at.take(some)
        count = self._count.take(nodes)
        shift = (self._until.take(nodes) - count.cumsum()).repeat(count)
        return Occurrences(
            self.names,
            self._families.take(shift + np.arange(len(shift))),
            at.repeat(count),
            word_places,
        )

    def _walk(self, ids: Numbers) -> tuple[Numbers, Numbers]:
        """The nodes of all phrases and their beginnings, and of each the number of its last word."""
        known = ids.nonzero()[0]
        nodes, last = [ids.take(known)], [known]
        ids = np.append(ids, 0)  # no word follows the last one
        while len(last[-1]):
            then = last[-1] + 1
            edges = nodes[-1] * self._size + ids.take(then)
            likely = self._likely.take(edges & _LAST_BITS).nonzero()[0]
            edges, then = edges.take(likely), then.take(likely)
            found = np.searchsorted(self._edges, edges)
            true = (self._edges.take(found) == edges).nonzero()[0]
            nodes.append(found.take(true) + self._size)
            last.append(then.take(true))
        return np.concatenate(nodes), np.concatenate(last)
