"""How many tokens a text will cost, on the high side: no tokenizer of ours, any model's server."""

from __future__ import annotations

import re

#: English and code: the tokenizers of the models named in the docs make 3.5 to 4.5 characters a token.
_ASCII = 3.0
#: Accented letters, Cyrillic, Arabic: two characters a token; Chinese, Japanese, Korean, emoji: one.
_LETTERS = 2.0
_RUNS = re.compile(r"(\s|[^\w\s])\1{3,}")


def estimated_tokens(text: str) -> int:
    """An estimate that is rarely too low."""
    plain = sum(char < "\x80" for char in text)
    letters = sum("\x80" <= char < "\u2e80" for char in text)
    return int(plain / _ASCII + letters / _LETTERS + (len(text) - plain - letters)) + 4


def least_tokens(text: str) -> int:
    """An estimate that is rarely too high: runs of one sign count once, six characters a token."""
    return int(len(_RUNS.sub(r"\1", text)) / 6)
