"""The answer without an LLM: the passages of the evidence that answer best, verbatim, each with its marker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bot.stages.results import Drafted, Query, Zoned
from bot.tools import Tools
from forum.asking import is_question
from forum.cues import advises, asks, chats, complains, corrects, greets, points_up, reports
from forum.errors import ModelMismatch, RemoteError
from forum.markdown import Block, mark
from forum.orders import is_order
from forum.pieces import Kind, Piece, pieces
from forum.support import Idf, inverse_document_frequency
from forum.terms import terms
from forum.types import Candidate, Zone

#: A longer sentence or block of code is a dump, a shorter sentence a fragment that needs the one before it.
_LONGEST, _SHORTEST = 600, 40
#: Passages in a reply, in a weak one, and of one post; characters that a passage may grow to.
_PASSAGES, _WEAK_PASSAGES, _A_POST = 3, 2, 2
_ROOM, _LIST_ROOM = 420, 800
#: A further passage must reach this share of the best one, a neighbouring sentence this share of its passage.
_WORTH, _BESIDE = 0.7, 0.5
#: An answer begins with what matters, in a post of up to so many characters; a line that introduces code leads to it.
_LEAD, _SHORT_POST, _SHOWS = 0.15, 1200, 0.1
#: What makes a piece worth quoting: its own words and meaning, its post's fit, rank and standing. Tuned on the
#: practice questions: see docs/quoting.md.
_WORDS, _CLOSE, _FIT, _RANK, _THREAD, _ACCEPTED, _ASKS, _REPORTS = 0.4, 0.15, 0.3, 0.15, 0.5, 0.2, 0.7, 0.4
#: A thread whose logit lies so far below the best one's is not quoted; over `_SCALE` it costs all of `_THREAD`.
_GAP, _SCALE = 1.5, 5.0
#: Two passages that share more of their terms say the same thing.
_SAME = 0.6
_LEANS = (
    "it that this these those they then so but and or also otherwise if not he she yes no there"
    " il elle ils ça cela ce c'est donc mais et ou sinon alors puis oui non ensuite celui celle"
).split()


@dataclass(frozen=True, slots=True)
class _Scored:
    piece: Piece
    terms: frozenset[str]
    score: float
    quotable: bool


@dataclass(frozen=True, slots=True)
class _Passage:
    """Pieces in a row of source n; `start` and `end` are places in the post's list of pieces."""

    n: int
    start: int
    end: int
    score: float
    terms: frozenset[str]


def quote(query: Query, zoned: Zoned, tools: Tools, *, reason: str, degraded: tuple[str, ...] = ()) -> Drafted:
    """Up to four passages in the order of the sources; in zone `weak` two. Built as blocks: what a post writes,
    markers included, can only be text. Nothing quotable: a refusal.
    """
    sources = zoned.evidence.sources
    behind = _behind(sources)
    posts = _scored(query, sources, behind, tools)
    found = [passage for n, post in enumerate(posts, 1) if behind[n - 1] >= -_GAP for passage in _passages(n, post)]
    chosen = _chosen(found, _WEAK_PASSAGES if zoned.zone is Zone.WEAK else _PASSAGES)
    blocks = tuple(
        block
        for passage in _joined(sorted(chosen, key=lambda one: (one.n, one.start)))
        for block in _blocks(posts[passage.n - 1][passage.start : passage.end], passage.n)
    )
    return Drafted(
        decision="quoted" if blocks else "nothing to quote",
        reason=reason,
        text="\n".join(block.text for block in blocks),
        blocks=blocks,
        writer="quote",
        degraded=degraded,
        data={"passages": [[one.n, one.start, one.end, round(one.score, 3)] for one in found]},
    )


def _scored(query: Query, sources: Sequence[Candidate], behind: Sequence[float], tools: Tools) -> list[list[_Scored]]:
    """Every piece of every source with its worth as an answer."""
    wanted = frozenset(terms(query.full))
    apart = [pieces(source.passage.text) for source in sources]
    held = [[frozenset(terms(piece.text)) for piece in post] for post in apart]
    known = wanted.union(*(one for post in held for one in post))
    idf = inverse_document_frequency(tools.index.statistics(sorted(known)))
    words = _shares([[_weight(one & wanted, idf) for one in post] for post in held])
    close = _shares(_closeness(query.full, apart, tools))
    [fit] = _shares([[_fit(source) for source in sources]])
    answered = {one.passage.topic_id for one in sources if one.passage.signals.accepted and one.passage.topic_id}
    out: list[list[_Scored]] = []
    for n, (source, post) in enumerate(zip(sources, apart, strict=True)):
        prior = _FIT * fit[n] + _RANK / (n + 1) + _ACCEPTED * source.passage.signals.accepted
        opens = source.passage.post_number == 1 and source.passage.topic_id in answered
        prior -= _ASKS * (opens or is_question(source.passage)) + _REPORTS * reports(source.passage.text)
        prior -= _REPORTS * points_up(source.passage.text)
        prior += _THREAD * max(behind[n] / _SCALE, -1.0)
        row = []
        for place, piece in enumerate(post):
            lead = _LEAD / (place + 1) if len(source.passage.text) < _SHORT_POST else 0.0
            if piece.text.endswith(":") and place + 1 < len(post) and post[place + 1].kind is Kind.CODE:
                lead += _SHOWS
            score = lead + _WORDS * words[n][place] + _CLOSE * close[n][place] + prior + _manner(piece, source)
            row.append(_Scored(piece, held[n][place], score, _quotable(piece, last=place + 1 == len(post))))
        out.append(row)
    return out


def _behind(sources: Sequence[Candidate]) -> list[float]:
    """How far each source's thread lies below the best one, in logits (0 or less); zeros where none were made."""
    logits = [one.thread_logit for one in sources]
    top = max((one for one in logits if one is not None), default=0.0)
    return [0.0 if one is None else one - top for one in logits]


def _fit(source: Candidate) -> float:
    """How well the whole post fits, by words and by vector."""
    match = source.match
    return 0.5 * match.coverage + 0.3 * match.rare_coverage + (match.cosine or 0.0)


def _weight(found: frozenset[str], idf: Idf) -> float:
    return sum(idf(term) for term in found)


def _shares(values: list[list[float]]) -> list[list[float]]:
    """Scaled so that the best is 1 and the average 0 or less."""
    flat = [value for row in values for value in row]
    top, mean = max(flat, default=0.0), sum(flat) / len(flat) if flat else 0.0
    width = top - mean
    return [[max((value - mean) / width, -0.5) if width > 0 else 0.0 for value in row] for row in values]


def _closeness(question: str, apart: Sequence[Sequence[Piece]], tools: Tools) -> list[list[float]]:
    """Cosine of the question and each piece, zeros where the embedder does not answer."""
    texts = [piece.text[:_LONGEST] for post in apart for piece in post]
    if not texts:
        return [[] for _ in apart]
    try:
        found = np.asarray(tools.embedder.embed_passages(texts) @ tools.embedder.embed_query(question))
    except (RemoteError, ModelMismatch):
        found = np.zeros(len(texts))
    values = iter(found.tolist())
    return [[next(values) for _ in post] for post in apart]


def _manner(piece: Piece, source: Candidate) -> float:
    """Answers advise, correct, count and show; questions complain."""
    manner = 0.1 * advises(piece.text) + 0.15 * corrects(piece.text)
    manner += 0.08 * (piece.kind is Kind.CODE) + 0.15 * (piece.kind is Kind.STEP)
    manner += 0.05 * any(char.isdigit() for char in piece.text)
    manner -= 0.3 * (piece.kind is Kind.SENTENCE and chats(piece.text))
    if complains(piece.text):
        manner -= 0.25 if source.passage.post_number == 1 else 0.1
    return manner


def _quotable(piece: Piece, *, last: bool) -> bool:
    text = piece.text
    if piece.kind is Kind.CODE:
        return len(text) <= 2 * _LONGEST and not is_order(text)
    return (
        len(text) <= _LONGEST
        and any(char.isalpha() for char in text)
        and (last or not _heads(piece))
        and not asks(text)
        and not greets(text)
        and not is_order(text)
    )


def _passages(n: int, post: list[_Scored]) -> list[_Passage]:
    """The best passages of one post, none overlapping; none when the post gives orders to the bot."""
    if any(is_order(one.piece.text) for one in post):
        return []
    found: list[_Passage] = []
    taken: set[int] = set()
    for best in sorted(range(len(post)), key=lambda place: -post[place].score):
        if best in taken or not post[best].quotable or len(found) == _A_POST:
            continue
        start, end = _grown(post, best, taken, whole_posts=not found)
        taken.update(range(start, end))
        held = frozenset[str]().union(*(one.terms for one in post[start:end]))
        found.append(_Passage(n, start, end, post[best].score, held))
    return found


def _grown(post: list[_Scored], best: int, taken: set[int], *, whole_posts: bool) -> tuple[int, int]:
    """The piece with what it needs to be understood, and with good neighbours while there is room."""
    start, end = _list_around(post, best) if _listed(post[best]) else (best, best + 1)
    if taken.intersection(range(start, end)):
        start, end = best, best + 1

    def free(place: int) -> bool:
        return 0 <= place < len(post) and place not in taken and post[place].quotable

    while free(start - 1) and _leans(post, start) and start > best - 3:
        start -= 1
    while free(end) and _introduces(post, end - 1) and end < best + 9:
        end += 1
    if whole_posts and not _listed(post[end - 1]):
        while free(end) and post[end].piece.end - post[start].piece.start <= _ROOM:
            end += 1
    while True:
        size = post[end - 1].piece.end - post[start].piece.start
        sides = [place for place in (start - 1, end) if free(place) and _fits(post, place, best, size)]
        if not sides:
            return start, end
        place = max(sides, key=lambda one: post[one].score)
        start, end = (start - 1, end) if place < start else (start, end + 1)
        while free(end) and _introduces(post, end - 1) and end < best + 9:
            end += 1


def _list_around(post: list[_Scored], best: int) -> tuple[int, int]:
    """The whole list with the line that introduces it when it is short, else the item alone."""
    start, end = best, best + 1
    while start > 0 and _listed(post[start]):
        start -= 1
    if not post[start].piece.text.endswith(":"):
        start += not _listed(post[start])
    while end < len(post) and _listed(post[end]):
        end += 1
    whole = post[end - 1].piece.end - post[start].piece.start <= _LIST_ROOM
    whole = whole and all(post[place].quotable for place in range(start, end))
    return (start, end) if whole else (best, best + 1)


def _fits(post: list[_Scored], place: int, best: int, size: int) -> bool:
    one = post[place]
    return one.score >= _BESIDE * post[best].score and size + len(one.piece.text) <= _ROOM


def _leans(post: list[_Scored], place: int) -> bool:
    """It cannot be understood without what stands before it."""
    piece = post[place].piece
    if piece.kind is Kind.CODE or (_listed(post[place]) and post[place - 1].piece.text.endswith(":")):
        return True
    first = piece.text.split(" ", 1)[0].strip(",.;:").lower().replace("’", "'")
    return first in _LEANS or len(piece.text) < _SHORTEST or (piece.text[:1].islower() and piece.kind is Kind.SENTENCE)


def _introduces(post: list[_Scored], place: int) -> bool:
    """It ends in a colon, or the list that it began goes on."""
    piece = post[place].piece
    if piece.text.endswith(":"):
        return True
    if not _listed(post[place]) or place + 1 >= len(post):
        return False
    began = place
    while began > 0 and _listed(post[began]):
        began -= 1
    return post[began].piece.text.endswith(":") and _listed(post[place + 1])


def _listed(one: _Scored) -> bool:
    return one.piece.kind in (Kind.ITEM, Kind.STEP)


def _heads(piece: Piece) -> bool:
    """A heading, where something stands below: a few words that end like no sentence."""
    return piece.kind is Kind.SENTENCE and len(piece.text) <= 60 and piece.text[-1].isalnum()


def _chosen(found: list[_Passage], limit: int) -> list[_Passage]:
    """The best first; one that says what another says, or falls far behind, is left out."""
    chosen: list[_Passage] = []
    for one in sorted(found, key=lambda passage: (-passage.score, passage.n, passage.start)):
        if len(chosen) == limit or (chosen and one.score < _WORTH * chosen[0].score):
            break
        if not any(_overlap(one.terms, other.terms) > _SAME for other in chosen):
            chosen.append(one)
    return chosen


def _joined(passages: list[_Passage]) -> list[_Passage]:
    """Passages that follow each other in a post are one."""
    out: list[_Passage] = []
    for one in passages:
        if out and out[-1].n == one.n and out[-1].end == one.start:
            out[-1] = replace(out[-1], end=one.end)
        else:
            out.append(one)
    return out


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(min(len(one), len(other)), 1)


def _blocks(passage: Sequence[_Scored], n: int) -> list[Block]:
    """Sentences in a row are one list item; every item has its marker; code is a block of its own."""
    out: list[Block] = []
    bare = bool(passage) and _listed(passage[0])
    for one in passage:
        piece = one.piece
        inside = bool(out)
        if piece.kind is Kind.CODE:
            out.append(Block("code", piece.text))
        elif _listed(one):
            out.append(
                Block(
                    "item", piece.text, depth=int(inside and not bare), label="1." if piece.kind is Kind.STEP else "-"
                )
            )
        elif inside and not bare and out[-1].kind == "item" and out[-1].depth == 0:
            out[-1] = replace(out[-1], text=f"{out[-1].text} {piece.text}")
        else:
            bare = False
            out.append(Block("item", piece.text, label="-"))
    if not any(block.kind == "item" for block in out):
        return [*out, Block("paragraph", mark(n))]
    return [block if block.kind == "code" else replace(block, text=f"{block.text} {mark(n)}") for block in out]
