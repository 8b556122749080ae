"""Scores how far a passage supports a sentence: by rare terms, by figures and names that must stand as they are."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from forum.bm25 import Corpus
from forum.terms import terms

Idf = Callable[[str], float]

_FIGURE = re.compile(r"(?<![\w.,])\d+(?:[.,\u202f\u00a0]\d+)*")
#: File names, paths, settings, versions, models, flags: `config.ini`, `/etc/x`, `rain_pullup`, `Hygro-S3`, `--count`.
_NAME = re.compile(
    r"(?<![\w-])--?[a-z][\w-]+|(?<![\w./])/[\w.-]+(?:/[\w.-]+)+|(?<![\w./-])[\w-]+(?:[._/:]+[\w-]+)+"
    r"|(?<![\w-])[^\W\d_]+-?\d[\w-]*|(?<![\w-])\d+[^\W\d_]+\d\w*"
)
_NO_NAMES = frozenset("and/or et/ou e.g i.e p.ex he/she his/her yes/no on/off km/h m/s w/m".split())
_PROPER = re.compile(r"(?<![.!?…:]\s)(?<!^)(?<![\w'’])([A-ZÀ-Þ][\w-]{2,})")
_NEGATION = re.compile(
    r"\b(?:not?|never|none|neither|nor|without|cannot|\w+n['’]t|avoid|stop|jamais|pas|aucune?|sans|ni|évite[rz]?|non)\b",
    re.IGNORECASE,
)
#: A single sentence that holds this share of a claim's terms is about the same thing: then its "not" counts.
_SAME_MATTER = 0.6


@dataclass(frozen=True, slots=True)
class Supported:
    """How far a passage supports a claim, 0 to 1, and what stands in the way."""

    score: float
    #: "", `figures` (a figure or name is not in the passage) or `denied` (the passage says the opposite).
    lacks: str = ""


def support(claim: str, passage: str, idf: Idf) -> Supported:
    """The share of the claim's terms, weighted by idf, that stand in the passage.

    0 when a figure or a name of the claim is not in the passage, or when the sentence of the passage that is about
    the same thing says "not" and the claim does not, or the other way round. A claim without terms claims nothing: 1.
    """
    wanted = _terms(claim)
    if not wanted:
        return Supported(1.0)
    if missing_exact(claim, passage):
        return Supported(0.0, "figures")
    total = sum(idf(term) for term in wanted)
    share = sum(idf(term) for term in wanted & _terms(passage)) / total if total else 1.0
    if share and denied(claim, passage, idf):
        return Supported(0.0, "denied")
    return Supported(share)


def missing_exact(claim: str, passage: str) -> list[str]:
    """The figures and names of the claim that the passage does not hold. `0,2` and `0.2`, `1 000` and `1000` agree."""
    here = _figures(passage)
    low = passage.lower()
    names = [name for name in _names(claim) if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", low)]
    bare = claim.lower()
    for name in _names(claim):
        bare = bare.replace(name, " ")
    return [figure for figure in _figures(bare) if figure not in here] + names


def anchors(claim: str, passage: str) -> int:
    """How many figures, names and proper names of the claim stand in the passage: what survives translation."""
    low = passage.lower()
    proper = {name.lower() for name in _PROPER.findall(claim)}
    return len(_figures(claim) & _figures(passage)) + sum(name in low for name in proper | set(_names(claim)))


def foreign_names(claim: str, passage: str) -> list[str]:
    """Proper names in the claim (capitals inside a sentence) that the passage does not hold."""
    low = passage.lower()
    return [name for name in _PROPER.findall(claim) if name.lower() not in low]


def denied(claim: str, passage: str, idf: Idf) -> bool:
    """The sentence nearest to the claim is about the same thing and only one of the two says "not"."""
    from forum.sentences import sentences

    wanted = _terms(claim)
    total = sum(idf(term) for term in wanted)
    if not total:
        return False
    said = [
        (sum(idf(term) for term in wanted & _terms(one)) / total, bool(_NEGATION.search(one)))
        for one in sentences(passage)
    ]
    near = [(share, negated) for share, negated in said if share >= _SAME_MATTER]
    negated = bool(_NEGATION.search(claim))
    return bool(near) and all(other != negated for _, other in near)


def inverse_document_frequency(corpus: Corpus) -> Idf:
    """BM25's non-negative idf, log(1 + (N - df + 0.5) / (df + 0.5)), over the whole index."""
    documents, held = max(corpus.documents, 1), corpus.frequencies
    return lambda term: math.log1p((documents - min(held.get(term, 0), documents) + 0.5) / (held.get(term, 0) + 0.5))


def best_quote(sentence: str, candidates: Iterable[str], idf: Idf) -> tuple[str, float]:
    """The candidate piece that holds most of the sentence's terms, figures counted twice, with that share."""
    wanted, figures = _terms(sentence), _figures(sentence)
    total = sum(idf(term) for term in wanted) or 1.0

    def share(piece: str) -> float:
        words = sum(idf(term) for term in wanted & _terms(piece)) / total
        return words + (len(figures & _figures(piece)) / len(figures) if figures else 0.0)

    best = max(((share(piece), -len(piece), piece) for piece in candidates), default=(0.0, 0, ""))
    return best[2], best[0]


def joined(passages: Sequence[str]) -> str:
    """Passages that a sentence cites together, as one."""
    return "\n".join(passages)


@lru_cache(maxsize=4_096)
def _terms(text: str) -> frozenset[str]:
    return frozenset(terms(text))


@lru_cache(maxsize=4_096)
def _figures(text: str) -> frozenset[str]:
    found: set[str] = set()
    for figure in _FIGURE.findall(text):
        plain = re.sub("[\u202f\u00a0]", "", figure)
        # 1,000 is a thousand in English and one in French: both readings count.
        found.add(plain.replace(",", ".").rstrip("."))
    return frozenset(found)


def _names(text: str) -> list[str]:
    found = (name.lower().rstrip(".-:/") for name in _NAME.findall(text))
    return [name for name in dict.fromkeys(found) if name not in _NO_NAMES and not _FIGURE.fullmatch(name)]
