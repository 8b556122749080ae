"""A message's characters as the plain ASCII letters that they stand for or are drawn like."""

from __future__ import annotations

import codecs
import unicodedata
from itertools import repeat

#: Letters and signs that are drawn like a Latin letter (the common ones; Unicode's confusables name thousands).
_DRAWN_LIKE = (
    ("абвгеёзиікклмнопрстухцьѕјԁԛԝһӏүјқңғө", "abbree3uikklmhonpctyxubsjdqwhlyjkhfo"),
    ("αβγεζηικμνορτυχωϲσδ", "abyeznikuvoptuxwcod"),
    ("ıøłđħŧɑɡɩʀʟɴɪᴀᴄᴅᴇᴋᴏᴘᴛᴜᴠᴡʙʜᴍᴊꜱ", "ioldhtagirlniacdekoptuvwbhmjs"),
    ("€£¥¡¢©®Ð∂∑†", "elyiccrddet"),
)
_DRAWN = {a: b for left, right in _DRAWN_LIKE for a, b in zip(left, right, strict=True)}
_DRAWN |= {"æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "ß": "ss"} | dict.fromkeys("‘’ʼ′＇", "'")
_LIGATURES = (("œ", "oe"), ("Œ", "oe"), ("æ", "ae"), ("Æ", "ae"), ("ß", "ss"))
#: The code points that may stand for Latin letters, or for nothing; every other one is a separator.
_BLOCKS = (
    *((0x80, 0x2FFF), (0xA640, 0xA7FF), (0xFB00, 0xFB06), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF)),
    *((0xFF00, 0xFF5E), (0x1D400, 0x1D7FF), (0x1F100, 0x1F1AC), (0xE0000, 0xE01EF)),
)

#: So many characters that are not Western are folded one by one; where more are, all of the text is.
_ODD = 256
#: The codecs' name for that.
_HANDLER = "bot.gate.letters"


class Letters:
    """What each character is in ASCII."""

    def __init__(self) -> None:
        """Tells the codecs how to encode what is not Western."""
        self._table = _table()
        characters = (bytes([code]).decode("cp1252", "replace") for code in range(256))
        #: For the bytes of cp1252, a letter each.
        self._western = bytes(ord((self._table.get(character) or " ")[0]) for character in characters)
        codecs.register_error(_HANDLER, self._not_western)

    def ascii(self, text: str) -> bytes:
        """The text, letter by letter."""
        if text.isascii():
            return text.encode()
        for sign, letters in _LIGATURES:
            text = text.replace(sign, letters)
        western = text.encode("cp1252", "ignore")  # one byte a character, eight times as fast as the general way
        odd = len(text) - len(western)
        if odd > _ODD:
            return self._general(text).encode()
        if odd:
            western = text.encode("cp1252", _HANDLER)
        return western.translate(self._western, b"\xad")

    def _general(self, text: str) -> str:
        return "".join(map(self._table.get, text, repeat("?")))

    def _not_western(self, error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        return self._general(error.object[error.start : error.end]), error.end


def _table() -> dict[str, str]:
    """What each character folds to: letters, nothing (marks, zero width), a quote or a space."""
    table: dict[str, str] = {}
    for code in (code for first, last in _BLOCKS for code in range(first, last + 1)):
        plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", chr(code)).casefold())
        kept = [_DRAWN.get(p, p) for p in plain if unicodedata.category(p) not in {"Mn", "Me", "Cf"}]
        table[chr(code)] = "".join(k if k.isascii() else " " for k in kept)[:4]
    return table | {chr(code): chr(code) for code in range(128)}
