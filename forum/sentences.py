"""Cuts clean text into sentences, keeping code lines, list items and abbreviations whole."""

from __future__ import annotations

import re

# A full stop, question or exclamation mark, then space, then something that may begin a sentence. Not after
# an initial (but after a unit: `12 V.`, `3 °C.`) or a common abbreviation (en, fr),
# and not inside `v3.2` (no space follows).
_END = re.compile(
    r"(?<=[.!?…])(?<!\D\s[A-Za-z]\.)(?<!\A[A-Za-z]\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bcf\.)(?<!\betc\.)(?<!\bvs\.)(?<!\bapprox\.)"
    r"(?<!\bMr\.)(?<!\bDr\.)(?<!\bp\.ex\.)(?<!\bex\.)(?<!\bno\.)(?<!\bfig\.)[\"'»”)\]]*\s+(?=[\"'«“(\[\x01-]*[\wÀ-ÿ])"
)


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, stripped, none empty; a line break always ends one."""
    return [piece.strip() for line in text.split("\n") for piece in _END.split(line) if piece.strip()]
