"""Which families a message's words belong to, and where: the places of each family as the bits of an integer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

#: So many places part two sentences: more than a combination within one sentence spans.
SENTENCE = 20
#: A message is looked at in pieces of so many words, which overlap: the work for each is bounded.
_PIECE, _OVERLAP = 4_000, 60


@dataclass(slots=True)
class Piece:
    """A piece of a message: `found`, family to places; `places`, of each word."""

    words: Sequence[bytes]
    places: Sequence[int]
    found: dict[str, int]

    def until(self, end: int, width: int) -> bytes:
        """The words of the `width` places up to `end`."""
        return b" ".join(word for word, at in zip(self.words, self.places, strict=True) if end - width <= at <= end)


class Lexicon:
    """Families of phrases."""

    def __init__(self, families: Mapping[str, Iterable[tuple[str, ...]]]) -> None:
        """`families`: name to phrases, each of one word or more. `.` is the word that parts sentences."""
        self._single: dict[bytes, list[str]] = {}
        #: By their first two words.
        self._several: dict[tuple[bytes, bytes], list[tuple[tuple[bytes, ...], str]]] = {}
        vocabulary: dict[str, bytes] = {}
        for name, phrases in families.items():
            for phrase in phrases:
                words = tuple([vocabulary.get(word) or vocabulary.setdefault(word, word.encode()) for word in phrase])
                if len(words) == 1:
                    self._single.setdefault(words[0], []).append(name)
                else:
                    self._several.setdefault((words[0], words[1]), []).append((words, name))
        self.words = frozenset(vocabulary.values())

    def pieces(self, words: Sequence[bytes]) -> Iterator[Piece]:
        """The message in pieces, each with the places of the families that are in it."""
        for start in range(0, max(1, len(words) - _OVERLAP), _PIECE - _OVERLAP):
            yield self._piece(words[start : start + _PIECE])

    def _piece(self, words: Sequence[bytes]) -> Piece:
        known = self.words.intersection(words)
        occurrences: dict[bytes, list[int]] = {word: [] for word in known}
        ends = occurrences.get(b".", [])
        places = []
        at = 0
        for word in words:
            at += 1
            places.append(at)
            if word in known:
                occurrences[word].append(at)
            if word == b".":  # it closes a sentence here, and opens the next one there
                at += SENTENCE
                ends.append(at)
        length = at // 8 + 1
        bits = {word: _bits(occurrences[word], length) for word in known}
        found: dict[str, int] = {}
        for word in known & self._single.keys():
            for name in self._single[word]:
                found[name] = found.get(name, 0) | bits[word]
        for pair in self._several.keys() & set(pairwise(words)):
            for phrase, name in self._several[pair]:
                if known.issuperset(phrase) and (last := _in_a_row([bits[each] for each in phrase])):
                    found[name] = found.get(name, 0) | last
        return Piece(words, places, found)


def _bits(places: Iterable[int], length: int) -> int:
    row = bytearray(length)
    for at in places:
        row[at >> 3] |= 1 << (at & 7)
    return int.from_bytes(row, "little")


def _in_a_row(bits: Sequence[int]) -> int:
    """Where the last word of the phrase stands."""
    ends = bits[0]
    for each in bits[1:]:
        ends = ends << 1 & each
    return ends
