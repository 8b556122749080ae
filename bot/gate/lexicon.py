"""Which families a message's words belong to, and where: roughly, by segments, and exactly, by places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise

#: So many places part two sentences: more than a combination within one sentence spans.
SENTENCE = 20
#: A longer sentence is looked at in segments that overlap by half, which is more than a match spans.
_SEGMENT, _HALF = 128, 64
#: Words that are taken to be in every segment: where exactly they are, is not worth the time.
_EVERYWHERE = frozenset(b". a an the to of in and is it for on that this de d la le l les des et en un une du".split())
#: So many places part two stretches that are looked at together: more than a combination and its excuses span.
_APART = 100


@dataclass(slots=True)
class Outline:
    """A message, roughly: `bounds`, of each segment, in words; `found`, family to segments, as bits."""

    words: Sequence[bytes]
    bounds: Sequence[tuple[int, int]]
    found: dict[str, int]

    def stretches(self, segments: int, beside: int) -> Iterator[tuple[int, int]]:
        """The parts of the message, in words, that are made of these segments and of `beside` more on both sides."""
        start = end = -1
        while segments:
            at = (segments & -segments).bit_length() - 1
            segments &= segments - 1
            first = self.bounds[max(0, at - beside)][0]
            if first > end:
                if end >= 0:
                    yield start, end
                start = first
            end = max(end, self.bounds[min(len(self.bounds), at + beside + 1) - 1][1])
        if end >= 0:
            yield start, end


@dataclass(slots=True)
class Piece:
    """Parts of a message: `found`, family to places, as bits; `places`, of each word."""

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
        self._single: dict[bytes, set[str]] = {}
        #: By their first two words: the families of such pairs, and by the third word the rest of longer phrases.
        self._pairs: dict[tuple[bytes, bytes], set[str]] = {}
        self._longer: dict[tuple[bytes, bytes], dict[bytes, list[tuple[tuple[bytes, ...], str]]]] = {}
        vocabulary: dict[str, bytes] = {}
        for name, phrases in families.items():
            for phrase in phrases:
                words = tuple([vocabulary.get(word) or vocabulary.setdefault(word, word.encode()) for word in phrase])
                if len(words) == 1:
                    self._single.setdefault(words[0], set()).add(name)
                elif len(words) == 2:
                    self._pairs.setdefault((words[0], words[1]), set()).add(name)
                else:
                    longer = self._longer.setdefault((words[0], words[1]), {})
                    longer.setdefault(words[2], []).append((words[3:], name))
        self.words = frozenset(vocabulary.values())
        self._in_a_row = frozenset(self._pairs.keys() | self._longer.keys())

    def outline(self, words: Sequence[bytes]) -> Outline:
        """The families of each segment: at least those that are in it."""
        bounds, marks = _segments(words)
        known = self.words.intersection(words)
        exact = known - _EVERYWHERE
        bits = dict.fromkeys(exact, 0)
        for word, mark in compress(zip(words, marks, strict=True), map(exact.__contains__, words)):
            bits[word] |= mark
        bits |= dict.fromkeys(known & _EVERYWHERE, (1 << len(bounds)) - 1)
        return Outline(words, bounds, self._families(words, bits, shift=0))

    def _families(self, words: Sequence[bytes], bits: Mapping[bytes, int], *, shift: int) -> dict[str, int]:
        """Each family's bits from its words'; the next word of a phrase is `shift` bits further."""
        found: dict[str, int] = {}
        for word in bits.keys() & self._single.keys():
            here = bits[word]
            for name in self._single[word]:
                found[name] = found.get(name, 0) | here
        for pair in self._in_a_row.intersection(pairwise(words)):
            two = bits[pair[0]] << shift & bits[pair[1]]
            if not two:
                continue
            for name in self._pairs.get(pair, ()):
                found[name] = found.get(name, 0) | two
            longer = self._longer.get(pair, {})
            for third in longer.keys() & bits.keys():
                if three := two << shift & bits[third]:
                    for rest, name in longer[third]:
                        last = three
                        for word in rest:
                            last = last << shift & bits.get(word, 0)
                        if last:
                            found[name] = found.get(name, 0) | last
        return found

    def piece(self, outline: Outline, stretches: Iterable[tuple[int, int]]) -> Piece:
        """These stretches of words, with the places of the families that are in them."""
        words: list[bytes] = []
        places: list[int] = []
        occurrences: dict[bytes, list[int]] = {}
        again: list[int] = []
        at = 0
        for start, end in stretches:
            for word in outline.words[start:end]:
                at += 1
                places.append(at)
                if word in self.words:
                    if word in occurrences:
                        occurrences[word].append(at)
                    else:
                        occurrences[word] = [at]
                if word == b".":  # it closes a sentence here, and opens the next one there
                    at += SENTENCE
                    again.append(at)
            words += outline.words[start:end]
            at += _APART
        if b"." in occurrences:
            occurrences[b"."] += again
        length = at // 8 + 1
        bits = {word: _bits(each, length) for word, each in occurrences.items()}
        return Piece(words, places, self._families(words, bits, shift=1))


def _segments(words: Sequence[bytes]) -> tuple[list[tuple[int, int]], list[int]]:
    """Sentences, their full stops included, cut where they are long; and of each word, its segments as bits."""
    bounds: list[tuple[int, int]] = []
    marks: list[int] = []
    start, last, bit = 0, len(words) - 1, 1
    while start < last:
        try:
            stop = words.index(b".", start + 1)
        except ValueError:
            stop = last
        before = 0
        while stop + 1 - start > _SEGMENT:
            bounds.append((start, start + _SEGMENT))
            marks += [before | bit] * _HALF
            start, before, bit = start + _HALF, bit, bit << 1
        bounds.append((start, stop + 1))
        if before:
            marks += [before | bit] * min(_HALF, stop - start)
            marks += [bit] * (stop - start - _HALF)
        else:
            marks += [bit] * (stop - start)
        start, bit = stop, bit << 1
    return bounds, [*marks, bit >> 1]


def _bits(places: Iterable[int], length: int) -> int:
    row = bytearray(length)
    for at in places:
        row[at >> 3] |= 1 << (at & 7)
    return int.from_bytes(row, "little")
