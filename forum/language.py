"""The language of a member's text, from the function words that he wrote himself, within the languages in use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from forum.stop_words import OTHER_SIGNS, SIGNS
from forum.unicode_safety import safe

#: Below it nothing is claimed: one ordinary word is not enough, one greeting or two function words are.
_LEAST_CONFIDENCE = 0.6
#: A longer text has told its language by here.
_READ_CHARACTERS = 6_000

#: Said by people and hardly ever by programs: one of them counts as two.
_STRONG = {
    "en": frozenset("hello hi hey thanks thank please how why what where which who could would".split()),
    "fr": frozenset("bonjour bonsoir salut merci comment pourquoi combien quel quelle quelles quels où quoi".split()),
}
_ELISION = re.compile(r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)'[^\W\d_]", re.IGNORECASE)
_CONTRACTION = re.compile(r"[^\W\d_]+(?:n't|'s|'re|'ve|'ll|'m)\b", re.IGNORECASE)
_FRENCH_LETTER = re.compile("[éèêëàâçùûîïôœ]")

_APOSTROPHES = re.compile("[\u2018\u2019\u02bc]")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+|@\w+", re.IGNORECASE)
#: What is quoted was written by somebody else or by a program.
_QUOTED = re.compile('"[^"\n]{12,400}"|«[^»\n]{12,400}»|“[^”\n]{12,400}”|`[^`\n]{1,400}`')
#: From here to the end of the line a program speaks.
_MESSAGE = re.compile(r"\b\w*(?:error|exception|warning|fatal|traceback|failed)\b[^:\n]{0,40}:.*", re.IGNORECASE)
_CODE_LINE = re.compile(
    r"[ \t]*(?:>|\$ |>>> |#|//|\{|\}|</|import |from \S+ import|def |class |return\b|for .*:$|if .*:$|while .*:$|else:)"
    r"|(?: {3,}|\t)(?![-*] |\d+\. )|.*[;{}\\]$"
)
#: Characters of code; a line with more than this share of them is no prose.
_CODE_CHARACTERS = frozenset("(){}[]<>=;_|&$\\/*+#~")
_CODE_SHARE = 0.07
#: A word of prose: letters, with apostrophes or hyphens inside, and no code or capitals about it.
_WORD = re.compile(r"(?<![\w./\\:=$-])[^\W\d_]+(?:['-][^\W\d_]+)*(?![\w/\\=(]|[.:][\w/])")


@dataclass(frozen=True, slots=True)
class LanguageGuess:
    """The language to answer in."""

    #: One of the allowed codes, always.
    code: str
    #: 0 to 1; 0 when it comes from a fallback.
    confidence: float
    why: str


def detect(
    text: str, allowed: Sequence[str], fallbacks: Sequence[str | None] = (), default: str = "en"
) -> LanguageGuess:
    """The text's language if its prose shows it, else the first known fallback, else `default`.

    `text` is clean text or raw words; code, addresses, quotations and error messages in it are passed over.
    `fallbacks`, best first: the language of the author's earlier post, of the topic; None: not known.
    Whatever is not in `allowed` is passed over too; `allowed` must not be empty.
    """
    last_resort = default if default in allowed else allowed[0]
    signs = _signs(text)
    total = sum(signs.values())
    best = max(signs, key=lambda code: signs[code])
    confidence = round(signs[best] / total * (1 - 0.5**total), 2) if total else 0.0
    if confidence >= _LEAST_CONFIDENCE and best in allowed:
        return LanguageGuess(best, confidence, f"{signs[best]:g} of {total:g} signs are {best}")
    why = "too few signs in the text" if confidence < _LEAST_CONFIDENCE else f"{best} is not in use"
    for number, code in enumerate(fallbacks, start=1):
        if code is not None and code in allowed:
            return LanguageGuess(code, 0.0, f"{why}: fallback {number}")
    return LanguageGuess(last_resort, 0.0, f"{why}: the default")


def _signs(text: str) -> dict[str, float]:
    """Weights of evidence by language; `other` for languages that are neither."""
    words = _prose_words(text)
    signs = {"en": 0.0, "fr": 0.0, "other": 0.0}
    accented = 0.0
    for word in words:
        known = word in OTHER_SIGNS
        signs["other"] += known
        for code in SIGNS:
            if word in _STRONG[code]:
                signs[code] += 2
                known = True
            elif word in SIGNS[code]:
                signs[code] += 1
                known = True
        if known:
            continue
        if _ELISION.match(word):
            signs["fr"] += 1
        elif _CONTRACTION.match(word):
            signs["en"] += 1
        elif _FRENCH_LETTER.search(word):
            accented += 0.5
    signs["fr"] += min(accented, 2.0)
    return signs


def _prose_words(text: str) -> list[str]:
    """Lower-case words of the author's prose; the pronoun I, which no other language writes so, as "i'm"."""
    text = _APOSTROPHES.sub("'", safe(text[:_READ_CHARACTERS]))
    text = _QUOTED.sub(" ", _ADDRESS.sub(" ", text))
    words: list[str] = []
    for line in text.split("\n"):
        symbols = sum(char in _CODE_CHARACTERS for char in line)
        if symbols > _CODE_SHARE * len(line) or _CODE_LINE.match(line):
            continue
        for word in _WORD.findall(_MESSAGE.sub(" ", line)):
            if word == "I":
                words.append("i'm")
            elif len(word) == 1 or word[1:].islower():
                words.append(word.lower())
    return words
