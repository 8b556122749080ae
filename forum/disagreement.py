"""Tells when two cited posts do not agree: a newer one corrects, or both give other figures for the same thing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from forum.cues import corrects
from forum.terms import terms

#: A figure with what it counts: `0.2 mm`, `15 ms`, `5 minutes`, `868.3 MHz`, `12 €`.
_MEASURE = re.compile(
    r"(?<![\w.,])(\d+(?:[.,]\d+)?)\s?(%|°C|°F|€|\$|£|hPa|[kMG]?Hz|k?m/h|m/s|[mcdk]?m|m[lL]|[lL]|[kMG]?B|[muµ]?s|min(?:utes?)?"
    r"|hours?|heures?|days?|jours?|years?|ans|[mkM]?[AVWΩ]h?|dBm?|baud)(?![\w/])"
)
#: Distinct terms that two sentences must share to speak of the same thing, beside their figures.
_SHARED = 3
_SHARED_SHARE = 0.34


@dataclass(frozen=True, slots=True)
class Said:
    """A cited post as far as it matters here; `quote` is the piece that the reply rests on."""

    n: int
    text: str
    quote: str
    created_at: datetime | None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """`newer` and `older` are markers; `kind` is `corrected` or `figures`; figures only for the second."""

    newer: int
    older: int
    kind: str
    figures: tuple[str, str] = ("", "")


def disagreement(said: Sequence[Said]) -> Disagreement | None:
    """The first pair of dated posts that disagree, the newer one first; a rule of thumb that prefers silence."""
    dated = sorted((one for one in said if one.created_at), key=lambda one: (str(one.created_at), one.n))
    for place, older in enumerate(dated):
        for newer in dated[place + 1 :]:
            if _share(newer.text, older.text) and corrects(newer.text):
                return Disagreement(newer.n, older.n, "corrected")
            if figures := _other_figures(newer.quote, older.quote):
                return Disagreement(newer.n, older.n, "figures", figures)
    return None


def _share(one: str, other: str) -> bool:
    mine, theirs = set(terms(one)), set(terms(other))
    shared = mine & theirs
    return len(shared) >= _SHARED and len(shared) >= _SHARED_SHARE * min(len(mine), len(theirs)) * 0.5


def _other_figures(newer: str, older: str) -> tuple[str, str] | None:
    """One measure each, of the same unit, another figure, about the same thing."""
    mine, theirs = _measures(newer), _measures(older)
    common = mine.keys() & theirs.keys()
    if len(common) != 1:
        return None
    [unit] = common
    shared = set(terms(_MEASURE.sub(" ", newer))) & set(terms(_MEASURE.sub(" ", older)))
    least = min(len(set(terms(newer))), len(set(terms(older))))
    if len(mine[unit]) != 1 or len(theirs[unit]) != 1 or mine[unit] == theirs[unit]:
        return None
    if len(shared) < _SHARED or len(shared) < _SHARED_SHARE * least:
        return None
    [a], [b] = mine[unit], theirs[unit]
    return f"{a} {unit}", f"{b} {unit}"


def _measures(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for figure, unit in _MEASURE.findall(text):
        found.setdefault(unit, set()).add(figure.replace(",", "."))
    return found
