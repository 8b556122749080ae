"""Triage tier 0: tell a greeting, a thanks or gibberish from a question, by rules and in well under a millisecond."""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import re2
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from bot.gate.rules import Reply, load_validated

#: A longer message is always treated as a question.
_LONGEST = 160

#: What may stand around a word, and what may stand within it: `E429-QUOTA`, `pulse_isr`, `C++`, `mode=live`.
_AROUND = ".,;:!?…'\"`()[]«»“”‘’*_~-–—"
_WORD = re2.compile(
    r"[/@#]?(?:[\pL\pM\pN]*\pL[\pL\pM\pN]*=)?[\pL\pM\pN%°]+(?:(?:->|=>|[-'’._/:+#@&,;])[\pL\pM\pN%°]+)*[+#]{0,2}"
)
#: Stands beside words and says nothing for or against them: a picture, or what is left of punctuation.
_SIGN = re2.compile(r"[^\x00-\x7F\pL\pN]*")
#: Letters that no word of English or French has in a row.
_FIST = re2.compile(r"[bcdfghjklmnpqrstvwxz]{5}|q[bcdfghjklmnpqrstvwxz][a-z]{2}")

Phrases = Annotated[tuple[Annotated[str, StringConstraints(min_length=1)], ...], Field(min_length=1)]


class TriageFile(BaseModel):
    """triage.yml: phrases are re2 on folded text (lower-case ASCII words, a space between)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    greeting: Phrases
    thanks: Phrases
    #: May stand beside a greeting or a thanks, and is neither.
    filler: Phrases
    greeting_signs: str
    thanks_signs: str
    keyboard_rows: Phrases
    #: Names of keyboards, which may be asked about.
    keyboard_words: Phrases
    replies: dict[str, Reply]


class _Tier0:
    """The compiled rules."""

    def __init__(self, rules: TriageFile) -> None:
        self.rules = rules
        greeting, thanks, filler = ("|".join(part) for part in (rules.greeting, rules.thanks, rules.filler))
        self._courtesy = _whole(f"{greeting}|{thanks}|{filler}")
        self._greeting = re2.compile(rf"\b(?:{greeting})\b")
        self._thanks = re2.compile(rf"\b(?:{thanks})\b")
        rows = (row for line in rules.keyboard_rows for row in (line, line[::-1]))
        walks = {row[at : at + n] for row in rows for n in range(4, len(row) + 1) for at in range(len(row) - n + 1)}
        walk = "|".join(sorted(walks, key=lambda one: -len(one)))
        self._walk = re2.compile(walk)
        run = "|".join(f"{c}{{4,}}" for c in "abcdefghijklmnopqrstuvwxyz")
        self._noise = _whole(f"(?:{walk})+[a-z]?|{run}|[bcdfghjklmnpqrstvwxz]{{8,}}")

    def kind(self, text: str) -> str | None:
        if len(text) > _LONGEST or not text.strip():
            return None
        if not any(c.isalnum() for c in text):
            return self._signs(text)
        folded = _folded(text)
        if self._courtesy.fullmatch(folded):
            if self._thanks.search(folded) and "?" not in text:
                return "chitchat:thanks"
            return "chitchat:greeting" if self._greeting.search(folded) else None
        if self._is_noise(text):
            return "gibberish"
        typed = [word for word in folded.split() if word not in self.rules.keyboard_words]
        if max(map(len, typed), default=0) > 3 and self._noise.fullmatch(" ".join(typed)):
            return "gibberish"
        return None

    def _is_noise(self, text: str) -> bool:
        """Nothing in it is a word, or words drown in signs (a template's or a query's syntax); or every word of
        several was typed by a fist: no vowel in five letters, a `q` with nothing behind it, a walk along the keys.
        """
        bare = [one for one in (token.strip(_AROUND) for token in text.split()) if not _SIGN.fullmatch(one)]
        words = [one for one in bare if _WORD.fullmatch(one)]
        if not any(len(one) > 1 or not one.isascii() for one in words) or 2 * len(words) <= len(bare):
            return True
        typed = _folded(text).split()
        return len(typed) > 1 and all(len(one) > 3 and self._mashed(one) for one in typed)

    def _mashed(self, word: str) -> bool:
        left = self._walk.sub("", word)
        return 3 * len(left) <= len(word) or _FIST.search(word) is not None

    def _signs(self, text: str) -> str:
        for signs, kind in ((self.rules.thanks_signs, "thanks"), (self.rules.greeting_signs, "greeting")):
            if any(c in signs for c in text):
                return f"chitchat:{kind}"
        return "gibberish"


def triage0(text: str, language: str) -> str | None:
    """ "chitchat:greeting", "chitchat:thanks", "gibberish", or None when `text` may be a question.

    A member may write in any language, so `language` does not choose the rules; it is there for the seam.
    """
    return _tier0().kind(text)


def chitchat_reply(kind: str, language: str) -> str:
    """The fixed reply: `kind` is what triage0 returns, "chitchat" or "unsafe"; French for "fr", else English.

    Raises KeyError for another kind.
    """
    reply = _tier0().rules.replies[kind]
    return reply.fr if language == "fr" else reply.en


@cache
def _tier0() -> _Tier0:
    return _Tier0(load_validated(Path(__file__).with_name("triage.yml"), TriageFile))


def _whole(phrase: str) -> Any:
    return re2.compile(f"(?:{phrase})(?: (?:{phrase}))*")


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.lower())
    letters = (c if c.isalnum() else "" if unicodedata.category(c) == "Mn" else " " for c in plain)
    return " ".join("".join(letters).split())
