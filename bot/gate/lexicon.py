"""Which families a message's words belong to, and where: roughly, by segments, and exactly, by places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, repeat

import numpy as np
import numpy.typing as npt

#: So many places part two sentences: more than a combination within one sentence spans.
SENTENCE = 20
#: A longer sentence is cut into segments, each of which is looked at with the one before: more than a match spans.
_SEGMENT = 64
#: So many places part two views of a message: more than a combination and its excuses span.
_APART = 100
#: A prime: edges are first looked up by their remainder, which few others share.
_SLOTS = 262_139

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The families in a message's words: of each occurrence its family, the place and the segment of its last word."""

    names: Mapping[str, int]
    families: Numbers
    at: Numbers
    within: Numbers
    #: Of each segment, whether it goes on with the sentence of the one before.
    continues: Flags
    #: Of each word.
    word_places: Numbers

    def segments(self) -> dict[str, int]:
        """Each family's segments, as bits; a segment that goes on also has what is in the one before."""
        marks = np.zeros((len(self.names), len(self.continues)), bool)
        marks[self.families, self.within] = True
        marks[:, 1:] |= marks[:, :-1] & self.continues[1:]
        return dict(zip(self.names, _bits(marks), strict=True))

    def places(self, names: Iterable[str]) -> dict[str, int]:
        """The places of these families, as bits; names that are no family's are left out."""
        wanted = [name for name in names if name in self.names]
        row = np.full(len(self.names), -1)
        row[[self.names[name] for name in wanted]] = range(len(wanted))
        rows = row[self.families]
        marks = np.zeros((len(wanted), int(self.word_places[-1]) + SENTENCE + 1), bool)
        marks[rows[rows >= 0], self.at[rows >= 0]] = True
        return dict(zip(wanted, _bits(marks), strict=True))


class Lexicon:
    """Families of phrases, as a tree: a node for each word, and for each beginning of a longer phrase."""

    def __init__(self, families: Mapping[str, Iterable[tuple[str, ...]]]) -> None:
        """`families`: name to phrases, each of one word or more. `.` is the word that parts sentences."""
        self._names = {name: number for number, name in enumerate(families)}
        complete: dict[tuple[str, ...], list[int]] = {}
        for number, phrases in enumerate(families.values()):
            for phrase in phrases:
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
        self._likely = np.zeros(_SLOTS, bool)
        self._likely[self._edges % _SLOTS] = True
        of = [[], *(complete.get(phrase, []) for phrase in nodes)]
        self._families = np.array(list(chain.from_iterable(of)), np.int64)
        self._count = np.array(list(map(len, of)))
        self._until = np.cumsum(self._count)

    @property
    def words(self) -> Iterable[bytes]:
        """Every word of a phrase."""
        return self._ids.keys()

    def find(self, *views: Sequence[bytes]) -> Occurrences:
        """The families in a message's views, each of which begins with a full stop."""
        words = list(chain.from_iterable(views))
        ids = np.fromiter(map(self._ids.get, words, repeat(0)), np.int64, len(words))
        number = np.arange(len(words))
        stops = ids == self._stop
        # A full stop closes a sentence at its place, and opens the next one SENTENCE further.
        word_places = number + SENTENCE * (np.cumsum(stops) - stops)
        for end in accumulate(map(len, views[:-1])):
            word_places[end:] += _APART
        cuts = (number - np.maximum.accumulate(number * stops)) % _SEGMENT == 0
        segments = np.cumsum(cuts)
        nodes, last = self._walk(ids, stops)
        opening = np.flatnonzero(stops)
        nodes = np.concatenate([nodes, ids[opening]])
        at = np.concatenate([word_places[last], word_places[opening] + SENTENCE])
        within = np.concatenate([(segments - stops)[last], segments[opening]])
        count = self._count[nodes]
        shift = np.repeat(self._until[nodes] - np.cumsum(count), count)
        return Occurrences(
            self._names,
            self._families[shift + np.arange(len(shift))],
            np.repeat(at, count),
            np.repeat(within, count),
            np.concatenate([[False], ~stops[cuts]]),
            word_places,
        )

    def _walk(self, ids: Numbers, stops: Flags) -> tuple[Numbers, Numbers]:
        """The nodes of all phrases and their beginnings, and of each the number of its last word."""
        nodes, last = [ids], [np.arange(len(ids))]
        here, then = ids[:-1], last[0][1:]
        while len(then):
            edges = here * self._size + ids[then]
            likely = np.flatnonzero(self._likely[edges % _SLOTS])
            edges, then = edges[likely], then[likely]
            found = np.searchsorted(self._edges, edges)
            true = self._edges[found] == edges
            here, then = found[true] + self._size, then[true]
            nodes.append(here)
            last.append(then)
            more = ~stops[then] & (then + 1 < len(ids))
            here, then = here[more], then[more] + 1
        return np.concatenate(nodes), np.concatenate(last)


def _bits(marks: Flags) -> Iterable[int]:
    """Each row as one number."""
    rows = np.packbits(marks, axis=1, bitorder="little")
    return [int.from_bytes(row, "little") for row in rows.view(f"S{rows.shape[1]}").ravel().tolist()]
