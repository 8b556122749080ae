"""The answer without an LLM: the sentences of the evidence that fit the question best, verbatim, each marked."""

from __future__ import annotations

import numpy as np

from bot.stages.results import Drafted, Query, Zoned
from bot.tools import Tools
from forum.errors import RemoteError
from forum.sentences import sentences
from forum.support import inverse_document_frequency
from forum.terms import terms

#: A sentence shorter or longer than this tells too little or is a dump; a neighbour may be added to a short one.
_SHORTEST, _LONGEST = 25, 420
_QUOTES = 4
_A_SOURCE = 2


def quote(query: Query, zoned: Zoned, tools: Tools, *, reason: str, degraded: tuple[str, ...] = ()) -> Drafted:
    """Up to four verbatim sentences, at most two a source, as list items that each end in their marker."""
    wanted = set(terms(query.full))
    pieces = [
        (n, place, piece, set(terms(piece)))
        for n, source in enumerate(zoned.evidence.sources, 1)
        for place, piece in enumerate(sentences(source.passage.text))
        if _SHORTEST <= len(piece) <= _LONGEST and not piece.endswith("?")
    ]
    frequencies = tools.index.document_frequencies(sorted(wanted | {t for p in pieces for t in p[3]}))
    idf = inverse_document_frequency(lambda term: frequencies.get(term, 0), max(tools.index.size(), 1))
    closeness = _closeness(query.full, [piece[2] for piece in pieces], tools)
    total = sum(idf(term) for term in wanted) or 1.0
    scored = sorted(
        (
            (
                sum(idf(term) for term in found & wanted) / total + close + 0.15 / n,
                n,
                place,
                piece,
            )
            for (n, place, piece, found), close in zip(pieces, closeness, strict=True)
        ),
        key=lambda row: (-row[0], row[1], row[2]),
    )
    chosen: list[tuple[float, int, int, str]] = []
    for row in scored:
        if len(chosen) == _QUOTES or (chosen and row[0] < 0.5 * chosen[0][0]):
            break
        if sum(other[1] == row[1] for other in chosen) < _A_SOURCE and row[3] not in {c[3] for c in chosen}:
            chosen.append(row)
    text = "\n".join(f"- {piece} [[{n}]]" for _, n, _, piece in chosen)
    return Drafted(decision="quoted", reason=reason, text=text, writer="quote", degraded=degraded)


def _closeness(question: str, pieces: list[str], tools: Tools) -> list[float]:
    if not pieces:
        return []
    try:
        vectors = tools.embedder.embed_passages(pieces)
        return [float(x) for x in np.asarray(vectors @ tools.embedder.embed_query(question))]
    except RemoteError:
        return [0.0] * len(pieces)
