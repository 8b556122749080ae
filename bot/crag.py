"""The corrective loop: is the evidence good enough, and if not, what is missing? Look again for that.

simple, sure >= high ............................ straight on
sure <= low ..................................... look again, with the question put in other words
in between, and a complex question above low .... ask the evaluator: VERDICT, CAUSE, MISSING
    correct ..................................... straight on
    ambiguous, incorrect ........................ look again, for what is missing
retries spent ................................... answer all the same, with low_confidence

`sure` is the sigmoid of the best passage's logit. Where is searched (scope, channels, categories) is settled before
the first pass and stays as it is; a further pass changes only the words. What every pass finds goes into one pool.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.prompts.prompts import prompt
from bot.stages.aggregate import aggregate
from bot.stages.external import external
from bot.stages.recall import recall
from bot.stages.rerank import rerank
from bot.stages.results import Query, Reranked, Zoned
from bot.stages.zone import zone
from bot.tools import Tools
from forum.config import Config
from forum.errors import RemoteError
from forum.ports import Message
from forum.types import Candidate, Evaluation, Zone
from forum.unicode_safety import one_line
from forum.zones import confidence

_LINE = re.compile(r"(VERDICT|CAUSE|MISSING)\s*:\s*(.*)")
_VERDICTS = ("correct", "ambiguous", "incorrect")
_LONGEST_QUERY = 300


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the evaluator said; `parsed` False: it said something else, and the safe default stands."""

    verdict: str
    cause: str = ""
    missing: str = ""
    parsed: bool = True


#: Neither trusted nor retried: without a MISSING line there is nothing to look for.
SAFE_DEFAULT = Verdict("ambiguous", cause="no verdict could be read", parsed=False)


def read_verdict(text: str) -> Verdict:
    """Exactly three lines `VERDICT: correct|ambiguous|incorrect`, `CAUSE: ...`, `MISSING: ...` in this order.

    Anything else is SAFE_DEFAULT: an evaluator that cannot keep to three lines cannot be trusted with a verdict.
    """
    lines = [line.strip() for line in text.strip().split("\n") if line.strip()]
    found = [match.groups() for line in lines if (match := _LINE.fullmatch(line))]
    if len(found) != len(lines) or [name for name, _ in found] != ["VERDICT", "CAUSE", "MISSING"]:
        return SAFE_DEFAULT
    verdict = found[0][1].strip().lower().rstrip(".")
    if verdict not in _VERDICTS:
        return SAFE_DEFAULT
    missing = one_line(found[2][1], _LONGEST_QUERY)
    nothing = missing.lower().rstrip(".") in ("", "none", "nothing", "-", "n/a", "rien", "aucun")
    return Verdict(verdict, one_line(found[1][1], 200), "" if nothing else missing)


def correct(query: Query, zoned: Zoned, tools: Tools, config: Config) -> Zoned:
    """The evidence after at most `corrective.retries` further passes, every pass in `data`.

    Without a retry the first pass's own evidence is handed on untouched.
    """
    limits = config.corrective
    passes: list[Mapping[str, Any]] = []
    degraded: set[str] = set()
    pool = _pooled((), zoned.evidence.sources, config)
    current = zoned
    for number in range(limits.retries + 1):
        sure = _sure(current)
        judged = _judged(query, current, sure, tools, config)
        degraded |= set(judged.degraded)
        passes.append(_told(number, current, sure, judged, pool))
        if judged.enough:
            return _done(current, query, passes, degraded, "good enough" if number == 0 else "corrected")
        if not judged.look_for or number == limits.retries:
            break
        carried = [one for one in pool if confidence(one.logit or 0.0) >= limits.keep][: limits.carry]
        found = _search(query, judged.look_for, tools, config, further=number + 1)
        degraded |= set(found.degraded)
        pool = _pooled((*carried, *pool), found.candidates, config)
        current = _evidence(query, pool, found, tools, config)
    return _done(current, query, passes, degraded, "retries spent", low=True)


@dataclass(frozen=True, slots=True)
class _Judged:
    enough: bool
    why: str
    look_for: str = ""
    verdict: Verdict | None = None
    degraded: tuple[str, ...] = ()


def _judged(query: Query, current: Zoned, sure: float | None, tools: Tools, config: Config) -> _Judged:
    """Whether the evidence is good enough; else what to look for."""
    if sure is None:
        return _Judged(True, "no logits to judge by")
    if query.kind != "complex" and sure >= config.corrective.high:
        return _Judged(True, "sure enough")
    if sure <= config.corrective.low:
        words, down = _ask("rephrase", query, current, tools, config, max_tokens=100)
        return _Judged(False, "hardly related", one_line(words, _LONGEST_QUERY), degraded=down)
    text, down = _ask("evaluate", query, current, tools, config, max_tokens=200)
    verdict = read_verdict(text)
    if verdict.verdict == "correct":
        return _Judged(True, "the evaluator says so", verdict=verdict)
    return _Judged(False, verdict.cause or verdict.verdict, verdict.missing, verdict, down)


def _ask(
    name: str, query: Query, current: Zoned, tools: Tools, config: Config, *, max_tokens: int
) -> tuple[str, tuple[str, ...]]:
    """The LLM's words for the prompt `name`; "" when it is down: then nothing is looked for again."""
    if tools.chat is None:
        return "", ()
    sources = [
        {"n": n, "title": one.passage.title, "text": one.excerpt or one.passage.text[:300]}
        for n, one in enumerate(current.evidence.sources, 1)
    ]
    message = Message(role="user", content=prompt(name, language=query.language, question=query, sources=sources))
    try:
        return tools.chat.chat([message], timeout_s=config.triage.timeout_s, max_tokens=max_tokens).text, ()
    except RemoteError:
        return "", ("llm",)


def _search(query: Query, words: str, tools: Tools, config: Config, *, further: int) -> Reranked:
    """One further pass with other words, in the same places as the first."""
    asked = replace(query, text=words, title="", sub_questions=())
    recalled = external(asked, recall(asked, tools, config), tools, config, further=further)
    return rerank(asked, recalled, tools, config)


def _pooled(pool: tuple[Candidate, ...], found: tuple[Candidate, ...], config: Config) -> tuple[Candidate, ...]:
    """Both by content id, each with its best logit, best first; at most `corrective.pool`."""
    best: dict[str, Candidate] = {}
    for one in (*pool, *found):
        held = best.get(one.passage.content_id)
        if held is None or (one.logit or 0.0) > (held.logit or 0.0):
            best[one.passage.content_id] = one
    ranked = sorted(best.values(), key=lambda one: (-(one.logit or 0.0), one.passage.content_id))
    return tuple(ranked[: config.corrective.pool])


def _evidence(query: Query, pool: tuple[Candidate, ...], found: Reranked, tools: Tools, config: Config) -> Zoned:
    """Aggregate and zone over the pool, as over a first pass."""
    reranked = Reranked(decision="pooled", candidates=pool, model_id=found.model_id)
    return zone(aggregate(query, reranked, tools, config), config)


def _sure(current: Zoned) -> float | None:
    top = current.evidence.sources[0].logit if current.evidence.sources else None
    if top is None:
        return 0.0 if not current.evidence.sources else None
    return confidence(top)


def _told(
    number: int, current: Zoned, sure: float | None, judged: _Judged, pool: tuple[Candidate, ...]
) -> Mapping[str, Any]:
    verdict = judged.verdict
    return {
        "pass": number,
        "sure": None if sure is None else round(sure, 4),
        "zone": current.zone.value,
        "enough": judged.enough,
        "why": judged.why,
        "verdict": verdict.verdict if verdict else None,
        "parsed": verdict.parsed if verdict else None,
        "look_for": judged.look_for,
        "pool": len(pool),
        "sources": [one.passage.content_id for one in current.evidence.sources],
    }


def _done(
    current: Zoned,
    query: Query,
    passes: list[Mapping[str, Any]],
    degraded: set[str],
    decision: str,
    *,
    low: bool = False,
) -> Zoned:
    return replace(
        current,
        decision=decision,
        reason=f"{len(passes)} passes: {passes[-1]['why']}",
        degraded=tuple(sorted(degraded)),
        low_confidence=low or current.zone is Zone.WEAK,
        evaluation=Evaluation(
            has_answer=current.zone is not Zone.ABSTAIN and not low,
            confidence=_sure(current) or 0.0,
            reason=f"{decision}: {passes[-1]['why']}",
        ),
        data={"passes": passes, "kind": query.kind},
    )
