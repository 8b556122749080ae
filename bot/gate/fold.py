"""A message folded to the few plain ASCII spellings that the gate's patterns are written for."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any

import re2

#: Letters and signs that are drawn like a Latin letter (the common ones; Unicode's confusables name thousands).
_DRAWN_LIKE = (
    ("абвгеёзиікклмнопрстухцьѕјԁԛԝһӏүјқңғө", "abbree3uikklmhonpctyxubsjdqwhlyjkhfo"),
    ("αβγεζηικμνορτυχωϲσδ", "abyeznikuvoptuxwcod"),
    ("ıøłđħŧɑɡɩʀʟɴɪᴀᴄᴅᴇᴋᴏᴘᴛᴜᴠᴡʙʜᴍᴊꜱ", "ioldhtagirlniacdekoptuvwbhmjs"),
    ("€£¥¡¢©®Ð∂∑†", "elyiccrddet"),
)
_DRAWN = {a: b for left, right in _DRAWN_LIKE for a, b in zip(left, right, strict=True)}
_DRAWN |= {"æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "ß": "ss"} | dict.fromkeys("‘’ʼ′＇", "'")
#: The code points that may stand for Latin letters, or for nothing; every other one is a separator.
_BLOCKS = (
    *((0x80, 0x2FFF), (0xA640, 0xA7FF), (0xFB00, 0xFB06), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF)),
    *((0xFF00, 0xFF5E), (0x1D400, 0x1D7FF), (0x1F100, 0x1F1AC), (0xE0000, 0xE01EF)),
)

#: Stands for the end of a sentence until every other sign is gone.
_END = b"\x01"
_SENTENCE_ENDS = (b". ", b"? ", b"! ", b"; ", b": ")
_SPACES = bytes(32 if c < 33 and c != 1 else c for c in range(256))
_WORDS = bytes(0x2E if c == 1 else c if chr(c).isascii() and chr(c).isalnum() else 32 for c in range(256))
_LEET = (bytes.maketrans(b"0134578@$!|+9", b"oieastbasiitg"), bytes.maketrans(b"0134578@$!|+9", b"oleastbaslltg"))
_LEET_SIGN = re2.compile(rb"[a-z][0-9@$!|+]|[0-9@$!|+][a-z]| [4@] [a-z]")
_DRAWN_OUT = re2.compile("|".join(f"{c}{{3,}}" for c in "abcdefghijklmnopqrstuvwxyz").encode())
_SPELLED = re2.compile(rb" [a-z](?: [a-z]){2,} ")
_UNSPACED = re2.compile(rb"[a-z]{14,64}")
#: What may stand between, or instead of, the letters of a split word.
_GAP = r"[ .,_*'^~/\\-]{0,2}"
_NO_LETTERS = b" .,_*'^~/\\-#aeiouy"


def character_table() -> dict[int, str]:
    """What each code point outside ASCII folds to: letters, nothing (marks, zero width), a quote or a space."""
    table: dict[int, str] = {}
    for first, last in _BLOCKS:
        for code in range(first, last + 1):
            plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", chr(code)).casefold())
            kept = [_DRAWN.get(p, p) for p in plain if unicodedata.category(p) not in {"Mn", "Me", "Cf"}]
            table[code] = "".join(k if k.isascii() else " " for k in kept)[:4]
    return table


def _western(table: dict[int, str]) -> bytes:
    """The same for the bytes of cp1252, a letter each."""
    characters = (bytes([code]).decode("cp1252", "replace") for code in range(256))
    return bytes(ord(c) if c.isascii() else ord((table.get(ord(c)) or " ")[0]) for c in characters)


class Folder:
    """Folds messages; `split_words` are the words that are found again when they were taken apart."""

    def __init__(self, split_words: Iterable[str]) -> None:
        words = sorted(split_words)
        options: Any = re2.Options()
        options.max_mem = 64 << 20
        self._table = character_table()
        self._western = _western(self._table)
        self._by_skeleton = {word.encode().translate(None, _NO_LETTERS): word.encode() for word in words}
        pattern = "|".join(_GAP.join(f"[{c}*#]" if c in "aeiouy" else c for c in word) for word in words)
        self._split = re2.compile(rf"\b(?:{pattern})\b".encode(), options) if words else None

    def views(self, text: str) -> tuple[bytes, ...]:
        """The spellings to search: words apart by one space, sentences by ` . `, which also opens and closes.

        The text as written comes first; the others undo digits for letters, split words and drawn-out letters.
        Each is at most a few times as long as `text`, their number is at most four, the time is linear.
        """
        base = self._ascii(text)
        views = {_spaced(base): None}
        for leet in _LEET[: 2 if b"1" in base or b"|" in base else 1]:
            views[_spelled(_spaced(self._unsplit(base.translate(leet))))] = None
        if _DRAWN_OUT.search(base):
            views[_spaced(_DRAWN_OUT.sub(lambda found: found[0][:1], base))] = None
        return tuple(views)

    def _ascii(self, text: str) -> bytes:
        raw = b" " + self._letters(text).lower().replace(_END, b" ") + b" "
        raw = raw.replace(b"\r", b"").replace(b"\n\n", b" " + _END + b" ").translate(_SPACES)
        while b"!!" in raw:
            raw = raw.replace(b"!!", b"!")
        for mark in _SENTENCE_ENDS:
            raw = raw.replace(mark, b" " + _END + b" ")
        return raw

    def _letters(self, text: str) -> bytes:
        if text.isascii():
            return text.encode()
        try:  # Western text: one byte a character, eight times as fast as the general way
            return text.encode("cp1252").translate(self._western, b"\xad")
        except UnicodeEncodeError:
            return text.translate(self._table).encode("ascii", "replace")

    def _unsplit(self, base: bytes) -> bytes:
        if self._split is None:
            return base
        return bytes(self._split.sub(self._whole, base))

    def _whole(self, found: Any) -> bytes:
        written: bytes = found[0]
        return self._by_skeleton.get(written.translate(None, _NO_LETTERS), written)


def unspaced(view: bytes) -> bytes:
    """The view's long runs of letters, one a line: where words may have been written without spaces."""
    return b"\n".join(_UNSPACED.findall(view))


def _spaced(base: bytes) -> bytes:
    return b". " + b" ".join(base.translate(_WORDS).split()) + b" ."


def _spelled(view: bytes) -> bytes:
    """Letters that stand alone, three and more in a row, joined to one word."""
    if not _SPELLED.search(view):
        return view
    return bytes(_SPELLED.sub(lambda found: b" " + found[0].replace(b" ", b"") + b" ", view))
