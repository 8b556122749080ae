"""A message folded to the few plain ASCII spellings that the gate's patterns are written for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Set
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bot.gate.letters import Letters
from forum.stop_words import ENGLISH, FRENCH

#: Stands for the end of a sentence until every other sign is gone.
_END = b"\x01"
_SENTENCE_ENDS = re.compile(rb"[.?!;:] ")
#: Lower case; a line's end stays, because two of them end a sentence.
_SPACES = bytes(32 if (c < 33 and c != 10) or c in b"\"'`()[]{}<>" else c for c in bytes(range(256)).lower())
_WORDS = bytes(0x2E if c == 1 else c if chr(c).isascii() and chr(c).isalnum() else 32 for c in range(256))
#: Digits and signs for letters. In a shape 1, | and l are one letter too.
_LEET = bytes.maketrans(b"0134578@$!|+9", b"oieastbasiitg")
_SHAPE = bytes.maketrans(b"0134578@$!|+9l", b"oieastbasiitgi")
_SIGNS = bytes(c for c in range(1, 128) if not chr(c).isalnum() and c not in b" @$!|+#*")
_HIDDEN = b"*#aeiouy"
_DOUBLED = re.compile(rb"([a-z])\1+")
#: `www.` is not.
_DRAWN_OUT = re.compile(rb"([a-vx-z])\1\1|www[^.]")
#: Words of these lengths may be several written as one; so many of them are looked at.
_SHORTEST, _LONGEST, _MOST = 12, 60, 128
_WIDEST = 16
#: So many runs of three or more letters alone may spell nothing: a list of variables, or a text made to be slow.
_TRIES = 64
#: Tokens of so many letters, and so many joined words, are remembered: a forum's words come back.
_LETTERS, _REMEMBERED = 1 << 20, 1 << 14
#: A shorter word behind digits and signs (m3, c3) counts only around one that was undone.
_SHORT = 3
#: The words of two letters that may stand in such a run; others are also the syllables of ordinary words.
_JOINTS = {b"me", b"my", b"to", b"of", b"is", b"in", b"up", b"do", b"no", b"an", b"am", b"as", b"be", b"we", b"a"} | {
    *(b"le", b"la", b"de", b"du", b"un", b"je", b"tu", b"et", b"ta", b"te", b"ma")
}
#: A word may stand in so many pieces; in a message of up to so many words they are looked for everywhere.
_PIECES, _SHORT_MESSAGE = 6, 200
#: How far around a word that was undone the second spelling is searched, in words.
_AROUND = 48


#: What a token is: no word but itself, another word, a piece of one, or one character alone.
_ITSELF, _MEANT, _PIECE, _ALONE = range(4)


class _Remembered(dict[bytes, int]):
    """What each token is, found out when it is first seen; `meanings` are those of the meant ones."""

    def __init__(self, plain: Iterable[bytes], meaning: Callable[[bytes], bytes], fragments: Set[bytes]) -> None:
        super().__init__(dict.fromkeys(plain, _ITSELF))
        self.meanings: dict[bytes, bytes] = {}
        self.letters = 0
        self._meaning, self._fragments = meaning, fragments

    def __missing__(self, token: bytes) -> int:
        meaning = self._meaning(token)
        if meaning:
            self.meanings[token] = meaning
        if len(meaning) >= _SHORT:
            kind = _MEANT
        elif not token[1:]:
            kind = _ALONE
        else:
            kind = _PIECE if token in self._fragments else _ITSELF
        self[token] = kind
        self.letters += len(token)
        return kind


class Folder:
    """Folds messages to words."""

    def __init__(self, words: Iterable[str]) -> None:
        """`words`, the patterns' own, are found again when they were taken apart, run together or disguised."""
        small = (w for w in ENGLISH | FRENCH if w.isascii() and w.isalpha() and w[2:])
        self._known = {word.encode() for word in (*words, *small)}
        #: Most tokens of a message are such.
        self._plain = [word for word in self._known if word.isalpha() and word[1:] and not _DRAWN_OUT.search(word)]
        joints = {word for word in self._known if 2 < len(word) <= _WIDEST} | _JOINTS
        self._split = {word.encode() for word in words if word[3:] and word not in ENGLISH | FRENCH}
        self._begins = {word[:n] for word in self._split for n in range(1, len(word))}
        self._fragments = {part for word in self._split for n in range(1, len(word)) for part in (word[:n], word[n:])}
        self._fragments = {part for part in self._fragments - self._known if part[1:]}
        self._opens = self._begins | self._split
        several = sorted(word for word in self._known if word[1:])
        self._by_shape = {word.translate(_SHAPE): word for word in several}
        self._by_squeeze = {_squeezed(word): word for word in several}
        self._by_skeleton: dict[tuple[bytes, int], list[bytes]] = {}
        for word in sorted(self._split):
            self._by_skeleton.setdefault((word.translate(None, _HIDDEN), len(word)), []).append(word)
        self._joints = joints
        self._remembered = _Remembered(self._plain, self._meaning, self._fragments)
        self._parts = lru_cache(_REMEMBERED)(self._parting)
        self._letters = Letters()

    def views(self, text: str) -> Iterator[list[bytes]]:
        """The spellings to search, as words; `.` parts sentences, opens and closes.

        The text as written comes first. If there is a second, it holds the places where digits for letters,
        split, spelled-out or drawn-out words were undone to a word that the gate knows. The time is linear.
        """
        base = self._ascii(text)
        yield self._apart(b" . " + base.translate(_WORDS) + b" . ")
        if around := self._undone(base):
            yield self._apart(b" . " + around.translate(_WORDS) + b" . ")

    def _undone(self, base: bytes) -> bytes:
        tokens = base.split()
        remembered = self._remembered
        if remembered.letters > _LETTERS:
            remembered = self._remembered = _Remembered(self._plain, self._meaning, self._fragments)
        kinds = np.fromiter(map(remembered.__getitem__, tokens), np.int8, len(tokens))
        changed = kinds == _MEANT
        pieces = kinds == _PIECE
        alone = kinds == _ALONE
        if (alone[2:] & alone[1:-1] & alone[:-2]).any():
            pieces |= alone
        # In a short message pieces may all be words themselves (per son nage).
        places = pieces.nonzero()[0].tolist() if len(tokens) > _SHORT_MESSAGE else range(len(tokens))
        joined = list(self._joined(tokens, places, changed)) if places else []
        if not joined and not changed.any():
            return b""
        undone = list(map(remembered.meanings.get, tokens, tokens))
        for first, count, word in joined:
            undone[first : first + count] = [word, *[b""] * (count - 1)]
            changed[first : first + count] = [True, *[False] * (count - 1)]
        return _around(undone, changed.nonzero()[0])

    def _joined(
        self, tokens: list[bytes], places: Iterable[int], meant: npt.NDArray[np.bool_]
    ) -> Iterator[tuple[int, int, bytes]]:
        """The words that stand in several tokens, around one of these `places`: the first, how many, and the word."""
        done = in_vain = 0
        for at in places:
            if at < done:
                continue
            first, count, word = at, 1, b""
            if tokens[at][1:]:
                first, count, word = self._pieces_at(tokens, at, at if at and meant[at - 1] else done)
            elif in_vain < _TRIES:
                count, word = self._letters_at(tokens, at)
                in_vain += count > 2 and not word
            if word:
                yield first, count, word
                done = first + count

    def _letters_at(self, tokens: list[bytes], at: int) -> tuple[int, bytes]:
        """How many letters stand alone from `at` on, and the words that they spell (i g n o r e); or nothing."""
        end = at
        while end < len(tokens) and len(tokens[end]) == 1 and end - at < _LONGEST:
            end += 1
        return end - at, self._spelled(b"".join(tokens[at:end])) if end - at > 2 else b""

    def _pieces_at(self, tokens: list[bytes], at: int, done: int) -> tuple[int, int, bytes]:
        """The first piece, the number of pieces and the word that stands in pieces around `at` (ig nore)."""
        for first in range(max(at - _PIECES + 2, done), min(at + 1, len(tokens) - 1)):
            word = tokens[first]
            if word + tokens[first + 1] not in self._opens:
                continue
            longest, found = 0, b""
            for count, piece in enumerate(tokens[first + 1 : first + _PIECES], 2):
                word += piece
                if (
                    word in self._split
                    and first + count > at
                    and (count > 2 or word[5:] or not self._known.issuperset(tokens[first : first + count]))
                ):
                    longest, found = count, word
                if word not in self._begins:
                    break
            if found:
                return first, longest, found
        return at, 1, b""

    def _spelled(self, letters: bytes) -> bytes:
        if word := self._by_shape.get(letters.translate(_SHAPE)):
            return word
        plain = letters.translate(_LEET)
        if not plain.isalpha() or len(plain) > _LONGEST:
            return b""
        parts = self._parts(plain)
        if letters[:1] == b"@" and letters[1:].rstrip(b"0123456789").isalpha():
            return b""  # a member's name
        return b" ".join(parts)

    def _meaning(self, token: bytes) -> bytes:
        """The known word that a token is, drawn out or spelled with digits or signs; else nothing."""
        if _DRAWN_OUT.search(token) and (word := self._by_squeeze.get(_squeezed(token))):
            return word
        if token.isalpha() or len(token) > _LONGEST:
            return b""
        letters = token.translate(None, _SIGNS).rstrip(b"!|+")
        if len(letters) < _SHORT or letters.isdigit():
            return self._pair(letters)
        if b"*" in letters or b"#" in letters:
            alike = self._by_skeleton.get((letters.translate(None, _HIDDEN), len(letters)), [])
            return next((word for word in alike if _fits(letters, word)), b"")
        if letters.isalpha():
            return letters if letters in self._known and self._taken_apart(token) else b""
        word = self._spelled(letters)
        return b"" if word == token else word

    def _pair(self, letters: bytes) -> bytes:
        """The word of two letters that a letter and a digit stand for (m3, c3)."""
        shape = letters.translate(_SHAPE)
        return self._by_shape.get(shape, b"") if len(shape) == _SHORT - 1 and not letters.isdigit() else b""

    def _taken_apart(self, token: bytes) -> bool:
        """Whether a token's pieces are three, or no words of their own (one letter never is, but e-mail has one)."""
        pieces = token.translate(_WORDS).split()
        longer = [piece for piece in pieces if piece[1:]]
        return len(pieces) > 2 or not self._known.issuperset(longer)

    def _apart(self, text: bytes) -> list[bytes]:
        """The words of a text in blanks; known words that were run together are set apart."""
        blanks = (np.frombuffer(text, np.uint8) == ord(" ")).nonzero()[0]
        lengths = blanks[1:] - blanks[:-1] - 1
        long = ((lengths >= _SHORTEST) & (lengths <= _LONGEST)).nonzero()[0]
        places = [
            slice(start, end) for start, end in zip((blanks[long] + 1).tolist(), blanks[long + 1].tolist(), strict=True)
        ]
        unknown = sorted(set(map(text.__getitem__, places)) - self._known)[:_MOST]
        if parted := {word: b" ".join(parts) for word in unknown if (parts := self._parts(word))}:
            for place in reversed(places):
                if apart := parted.get(text[place]):
                    text = text[: place.start] + apart + text[place.stop :]
        return text.split()

    def _parting(self, run: bytes) -> tuple[bytes, ...]:
        """The fewest known words that make up `run`, one of them a pattern's; else nothing."""
        fewest: list[list[bytes] | None] = [[], *[None] * len(run)]
        for start in range(len(run)):
            left = fewest[start]
            if left is None:
                continue
            if start == 0 and run[:1] in b"ai":
                fewest[1] = [run[:1]]
            for end in range(start + 1, min(start + _WIDEST, len(run)) + 1):
                best = fewest[end]
                if (best is None or len(left) + 1 < len(best)) and run[start:end] in self._joints:
                    fewest[end] = [*left, run[start:end]]
        parts = fewest[-1] or []
        return () if self._split.isdisjoint(parts) else tuple(parts)

    def _ascii(self, text: str) -> bytes:
        raw = b" " + self._letters.ascii(text).translate(_SPACES, b"\r") + b" "
        if b"\n" in raw:
            raw = raw.replace(b"\n\n", b" " + _END + b" ").replace(b"\n", b" ")
        while b"!" in raw and b"!!" in raw:
            raw = raw.replace(b"!!", b"!")
        return (b" " + _END + b" ").join(_SENTENCE_ENDS.split(b" ".join(raw.split(b", "))))


def _squeezed(word: bytes) -> bytes:
    return _DOUBLED.sub(rb"\1", word)


def _fits(written: bytes, word: bytes) -> bool:
    return all(a in b"*#" or a == b for a, b in zip(written, word, strict=True))


def _around(words: list[bytes], changed: npt.NDArray[np.int64]) -> bytes:
    """The words around the changed ones, a full stop where some are left out."""
    parts = []
    for near in np.split(changed, (changed[1:] - changed[:-1] > 2 * _AROUND).nonzero()[0] + 1):
        start = max(0, int(near[0]) - _AROUND)
        if start:
            parts.append(_END)
        parts += words[start : int(near[-1]) + _AROUND]
    return b" ".join(parts)
