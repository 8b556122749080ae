"""Untrusted text made encodable, visible and, where asked, one line; cuts that keep characters whole."""

from __future__ import annotations

import math
import re
import unicodedata

#: JSON as `json.loads` gives it.
Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

#: Characters that end a line for some reader (`str.splitlines`), beside "\n".
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

#: Never shown and never needed: controls, Bidi_Control (UAX #9), zero-width space and joiner, soft hyphen, byte order
#: mark, invisible operators, annotation marks, and the plane of tag letters and variation selectors (U+E0000..E0FFF).
#: ZWNJ (U+200C), ZWJ (U+200D) and U+FE00..FE0F stay: Persian and emoji need them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

#: No legitimate character is longer than this many code points; a longer pile of accents is cut inside.
_LONGEST_GRAPHEME = 48


def encodable(text: str) -> str:
    """The text with what UTF-8 and Postgres refuse replaced: surrogate pairs joined, lone ones U+FFFD, no NUL."""
    if not _UNSTORABLE.search(text):
        return text
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\x00", "")


def safe(text: str) -> str:
    """NFC text that hides nothing: only "\\n" ends a line; no control, bidi or tag characters; ZWJ and ZWNJ kept.

    Idempotent. Never raises for a str.
    """
    text = encodable(text)
    if not text.isascii():
        # Removing a hidden character can bring two together that compose, so the form is settled last.
        return unicodedata.normalize("NFC", _HIDDEN.sub("", _LINE_ENDS.sub("\n", text)))
    return _HIDDEN.sub("", _LINE_ENDS.sub("\n", text))


def one_line(text: str, limit: int = 255) -> str:
    """A name or title for a prompt, page or log: safe, on one line, at most `limit` characters with the "…"."""
    line = " ".join(safe(text).split())
    if len(line) <= limit:
        return line
    return line[: grapheme_cut(line, max(limit - 1, 0))].rstrip() + "…"


def grapheme_cut(text: str, limit: int) -> int:
    """The largest index <= limit at which a cut splits no emoji sequence, accent, flag or Hangul syllable.

    A simplified reading of UAX #29: enough for what members write, without its tables.
    """
    if limit >= len(text):
        return len(text)
    at = limit
    while at > max(0, limit - _LONGEST_GRAPHEME) and not _boundary(text, at):
        at -= 1
    return at if _boundary(text, at) else limit


def _boundary(text: str, at: int) -> bool:
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if after.isascii() and before.isascii():
        return not (before == "\r" and after == "\n")
    if before == "\u200d" or after in "\u200c\u200d" or "\U0001f3fb" <= after <= "\U0001f3ff":
        return False
    if unicodedata.category(after) in ("Mn", "Me", "Mc"):
        return False
    if _regional(before) and _regional(after):
        run = at
        while run > 0 and _regional(text[run - 1]):
            run -= 1
        return (at - run) % 2 == 0
    # Conjoining jamo: vowels and finals belong to what stands before them.
    return not ("\u1160" <= after <= "\u11ff" and "\u1100" <= before <= "\ud7a3")


def _regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def json_safe(value: Json) -> Json:
    """A decoded JSON value in which every text and key is `encodable` and every number finite (else None).

    Keeps everything else as it is, whatever the depth.
    """
    root: list[Json] = [value]
    todo: list[tuple[list[Json] | dict[str, Json], int | str]] = [(root, 0)]
    while todo:
        holder, key = todo.pop()
        item: Json = holder[key]  # type: ignore[index]
        if isinstance(item, str):
            holder[key] = encodable(item)  # type: ignore[index]
        elif isinstance(item, float) and not math.isfinite(item):
            holder[key] = None  # type: ignore[index]
        elif isinstance(item, list):
            copy: list[Json] = list(item)
            holder[key] = copy  # type: ignore[index]
            todo.extend((copy, at) for at in range(len(copy)))
        elif isinstance(item, dict):
            record: dict[str, Json] = {encodable(name): part for name, part in item.items()}
            holder[key] = record  # type: ignore[index]
            todo.extend((record, name) for name in record)
    return root[0]
