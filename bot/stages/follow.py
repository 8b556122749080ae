"""Stage follow: from the post that was found to the post of its thread that answers."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import chain, filterfalse, islice, zip_longest

from bot.scope import scope_of
from bot.stages.rerank import excerpted
from bot.stages.results import Query, Zoned
from bot.tools import Tools
from forum.asking import asks_the_bot, is_question
from forum.config import Config
from forum.cues import corrects
from forum.errors import ModelMismatch, RemoteError
from forum.orders import is_order
from forum.pieces import pieces
from forum.ports import Vectors
from forum.types import Candidate, Match, Passage, Zone

#: The threads that are read on, and the posts taken of each.
_THREADS = 3
_FIRST_THREAD, _OTHER_THREADS = 3, 2
#: A post of a thread is worth a place of its own from this share of the thread's best.
_CLOSE = 0.5
#: A thread whose logit lies so far below the best one's gives its place to a further post of a better thread.
_FAR = 2.0


def follow(query: Query, zoned: Zoned, tools: Tools, config: Config) -> Zoned:
    """The same evidence with, for the best threads, the posts that answer: a question is found by its words, its
    answer often shares few of them. At most `evidence.sources`. A post that gives the bot orders, or asks it, goes.

    Posts that no channel found carry no ranks; their logit is the cross-encoder's own, none with `features`, which
    only compares what was found together. All carry their thread's.
    Off with the flag `neighbours`.
    """
    if zoned.zone is Zone.ABSTAIN or not zoned.evidence.sources:
        return replace(zoned, decision="nothing to follow", reason="", data={}, degraded=())
    found = zoned.evidence.sources
    honest = tuple(one for one in found if not _orders(one.passage))
    groups = [[one] for one in honest]
    if config.flags.neighbours:
        groups = _threads(query, honest, tools, config) + groups[_THREADS:]
    told = [_told(group, one.logit, config) for group, one in zip(groups, honest, strict=True)]
    sources = _merged([group for group in told if group], config.evidence.sources)
    ids = [one.passage.content_id for one in sources]
    before = [one.passage.content_id for one in found]
    added = [each for each in ids if each not in before]
    dropped = [each for each in before if each not in ids]
    orders = len(found) - len(honest)
    return replace(
        zoned,
        decision=f"{len(added)} posts of the threads" if config.flags.neighbours else "off",
        reason=f"{orders} posts that give the bot orders are left out" if orders else "",
        degraded=(),
        evidence=replace(zoned.evidence, sources=sources),
        data={"added": added, "dropped": dropped, "sources": ids},
    )


def _told(group: list[Candidate], logit: float | None, config: Config) -> list[Candidate]:
    """With their thread's logit, and without what only asks the bot: a question is no evidence for another one."""
    return [replace(one, thread_logit=logit) for one in group if not asks_the_bot(one.passage, config.usernames)]


def _orders(passage: Passage) -> bool:
    return any(is_order(piece.text) for piece in pieces(passage.text))


def _threads(query: Query, honest: tuple[Candidate, ...], tools: Tools, config: Config) -> list[list[Candidate]]:
    scope = scope_of(query.question, config)
    radius = config.recall.neighbour_radius
    followed = [one.passage.post_id for one in honest[:_THREADS]]
    beside = tools.index.neighbours(followed, radius=radius, scope=scope)
    around = [beside[id] for id in followed]
    ids = [passage.post_id for near in around for passage in near] + followed
    vector = _vector(query, tools)
    matches = tools.index.matches(ids, text=query.full, vector=vector, scope=scope) if any(around) else {}
    groups: list[list[Candidate]] = []
    for place, (found, near) in enumerate(zip(honest[:_THREADS], around, strict=True)):
        thread = [found, *(_candidate(passage, matches) for passage in near)]
        worth = {id(one): _worth(one, matches, thread) - 0.6 * _opens(one, thread) for one in thread}
        # One after the other: whether a post gives orders takes long to tell, and few of a thread are asked about.
        ranked = filterfalse(lambda one: _orders(one.passage), sorted(thread, key=lambda one: -worth[id(one)]))
        best = next(ranked)
        least = _CLOSE * worth[id(best)]
        close = (one for one in chain([best], ranked) if 0 < worth[id(one)] >= least)
        chosen = list(islice(close, _FIRST_THREAD if place == 0 else _OTHER_THREADS))
        if found not in chosen and not _opens(found, thread):
            chosen = [*chosen[: _OTHER_THREADS - 1], found]
        groups.append(_scored(query, list(excerpted(query, chosen or [found], config)), found, tools))
    return groups


def _vector(query: Query, tools: Tools) -> Vectors | None:
    try:
        return tools.embedder.embed_query(query.full)
    except (RemoteError, ModelMismatch):
        return None


def _candidate(passage: Passage, matches: dict[int, Match]) -> Candidate:
    return Candidate(passage=passage, match=matches.get(passage.post_id, Match()))


def _worth(one: Candidate, matches: dict[int, Match], thread: list[Candidate]) -> float:
    """How likely this post of the thread is the one that answers: fit, acceptance, likes; a question is none."""
    match = matches.get(one.passage.post_id, one.match)
    closest = max((matches.get(other.passage.post_id, other.match).cosine or 0.0) for other in thread)
    likes = max(other.passage.signals.post_likes for other in thread)
    worth = 0.5 * match.coverage + 0.3 * match.rare_coverage
    worth += 0.5 * (match.cosine or 0.0) / closest if closest > 0 else 0.0
    worth += 0.35 * one.passage.signals.accepted + 0.1 * one.passage.signals.staff
    worth += 0.3 * math.log1p(one.passage.signals.post_likes) / math.log1p(max(likes, 3))
    worth += 0.2 * corrects(one.passage.text)
    return worth - 0.3 * (len(one.passage.text) < 60)


def _opens(one: Candidate, thread: list[Candidate]) -> bool:
    """It asks, by its words or because another post of its thread was accepted as the answer."""
    answered = any(other.passage.signals.accepted for other in thread if other is not one)
    return is_question(one.passage) or (one.passage.post_number == 1 and answered)


def _scored(query: Query, chosen: list[Candidate], found: Candidate, tools: Tools) -> list[Candidate]:
    """Posts that the reranker has not seen get its logit, where it answers."""
    new = [one for one in chosen if one.logit is None]
    if not new or found.logit is None or tools.reranker.model_id == "features":
        return chosen
    try:
        logits = dict(zip(map(id, new), tools.reranker.score(query.full, new), strict=True))
    except RemoteError:
        return chosen
    return [replace(one, logit=logits[id(one)]) if id(one) in logits else one for one in chosen]


def _merged(groups: list[list[Candidate]], limit: int) -> tuple[Candidate, ...]:
    """The best of each thread first come first, then their seconds; threads stay together, in their order."""
    kept: set[str] = set()
    top = groups[0][0].thread_logit if groups else None
    near = [group for group in groups if top is None or (group[0].thread_logit or 0.0) >= top - _FAR]
    for rank in [*zip_longest(*near), *zip_longest(*groups)]:
        for one in rank:
            if one is not None and len(kept) < limit:
                kept.add(one.passage.content_id)
    out: dict[str, Candidate] = {}
    for group in groups:
        for one in group:
            if one.passage.content_id in kept:
                out.setdefault(one.passage.content_id, one)
    return tuple(out.values())
