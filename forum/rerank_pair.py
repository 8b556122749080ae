"""What a cross-encoder reads: the question, and a candidate's title with its excerpt."""

from __future__ import annotations

from collections.abc import Sequence

from forum.types import Candidate
from forum.unicode_safety import grapheme_cut, safe

Pair = tuple[str, str]

#: A question of 3,000 words would leave a 512-position model no room for the document.
QUESTION_CHARACTERS = 600

#: Two pairs that no cross-encoder can both take for half right: they show whether scores are logits.
PROBE: tuple[Pair, ...] = (
    ("What is the capital of France?", "The capital of France is Paris."),
    ("What is the capital of France?", "Mend a bicycle tube with a patch and glue."),
)


def pairs(question: str, candidates: Sequence[Candidate]) -> list[Pair]:
    """One pair a candidate, in order; the excerpt, or the beginning of the text where there is none."""
    asked = safe(question[: grapheme_cut(question, QUESTION_CHARACTERS)])
    return [(asked, safe(f"{one.passage.title}\n{one.excerpt or one.passage.text[:300]}")) for one in candidates]


def are_logits(scores: Sequence[float]) -> bool:
    """True when a score lies outside of 0..1, as no probability does."""
    return any(score < 0.0 or score > 1.0 for score in scores)
