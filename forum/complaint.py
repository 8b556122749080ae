"""Whether a reply to the bot says that its answer was wrong; by plain words, in English and French."""

from __future__ import annotations

from forum.unicode_safety import one_line

_CUES = (
    "wrong",
    "incorrect",
    "not correct",
    "not true",
    "not what i asked",
    "does not answer",
    "doesn't answer",
    "did not help",
    "didn't help",
    "not helpful",
    "does not work",
    "doesn't work",
    "misleading",
    "outdated",
    "c'est faux",
    "est fausse",
    "inexact",
    "incorrecte",
    "pas correct",
    "pas vrai",
    "ne répond pas",
    "ne repond pas",
    "n'aide pas",
    "ne marche pas",
    "ne fonctionne pas",
    "trompeu",
    "hors sujet",
    "périmé",
    "dépassé",
)
#: A complaint comes first; later words may be about anything.
_BEGINNING = 160


def is_complaint(text: str) -> bool:
    """True when the beginning of the reply says that the answer was wrong or no help. Often right, never certain."""
    begins = one_line(text, _BEGINNING).casefold().replace("’", "'")
    return any(cue in begins for cue in _CUES)
