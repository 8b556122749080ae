"""Which families a message's words belong to, and where: the places of each family as the bits of an integer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from forum.stop_words import ENGLISH, FRENCH

#: So many places part two sentences: more than a combination within one sentence spans.
SENTENCE = 20
#: A message is looked at in pieces of so many words, which overlap: the work for each is bounded.
_PIECE, _OVERLAP = 600, 60

_COMMON = frozenset(word.encode() for word in ENGLISH | FRENCH)


@dataclass(slots=True)
class Piece:
    """A piece of a message: `found`, family to places; `places`, of each word."""

    words: Sequence[bytes]
    places: list[int] = field(default_factory=list)
    found: dict[str, int] = field(default_factory=dict)

    def until(self, end: int, width: int) -> bytes:
        """The words of the `width` places up to `end`."""
        return b" ".join(word for word, at in zip(self.words, self.places, strict=True) if end - width <= at <= end)


class Lexicon:
    """Families of phrases."""

    def __init__(self, families: Mapping[str, Iterable[tuple[str, ...]]]) -> None:
        """`families`: name to phrases, each of one word or more. `.` is the word that parts sentences."""
        self._single: dict[bytes, set[str]] = {}
        several: dict[tuple[bytes, ...], set[str]] = {}
        for name, phrases in families.items():
            for phrase in phrases:
                words = tuple(word.encode() for word in phrase)
                if len(words) == 1:
                    self._single.setdefault(words[0], set()).add(name)
                else:
                    several.setdefault(words, set()).add(name)
        #: By the rarest of its words.
        self._several: dict[bytes, list[tuple[tuple[bytes, ...], set[str]]]] = {}
        for words, names in several.items():
            rarest = max(words, key=lambda word: (word not in _COMMON, len(word)))
            self._several.setdefault(rarest, []).append((words, names))
        self.words = frozenset(self._single) | {word for words in several for word in words}

    def pieces(self, words: Sequence[bytes]) -> Iterator[Piece]:
        """The message in pieces, each with the places of the families that are in it."""
        for start in range(0, max(1, len(words) - _OVERLAP), _PIECE - _OVERLAP):
            yield self._piece(words[start : start + _PIECE])

    def _piece(self, words: Sequence[bytes]) -> Piece:
        piece = Piece(words)
        known = self.words.intersection(words)
        bits = dict.fromkeys(known, 0)
        at = 0
        for word in words:
            at += 1
            piece.places.append(at)
            if word in known:
                bits[word] |= 1 << at
            if word == b".":  # it closes a sentence here, and opens the next one there
                at += SENTENCE
                bits[word] = bits.get(word, 0) | 1 << at
        found = piece.found
        for word in known:
            for name in self._single.get(word, ()):
                found[name] = found.get(name, 0) | bits[word]
            for phrase, names in self._several.get(word, ()):
                if known.issuperset(phrase) and (ends := _in_a_row([bits[each] for each in phrase])):
                    for name in names:
                        found[name] = found.get(name, 0) | ends
        return piece


def _in_a_row(bits: Sequence[int]) -> int:
    """Where the last word of the phrase stands."""
    ends = bits[0]
    for each in bits[1:]:
        ends = ends << 1 & each
    return ends
