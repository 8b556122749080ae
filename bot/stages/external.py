"""Stage external: for a complex question, or when looking again, what sources outside the forum say; off by default."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from threading import Thread

from bot.stages.results import Query, Recalled
from bot.tools import Tools
from forum.config import Config
from forum.errors import ModelMismatch, RemoteError
from forum.matching import Closeness, Counted, matched
from forum.ports import ExternalSource
from forum.terms import terms
from forum.types import Candidate, Match, Passage


@dataclass(frozen=True, kw_only=True, slots=True)
class Gathered:
    """What each source gave, and why a source gave nothing."""

    passages: Mapping[str, Sequence[Passage]]
    failed: Mapping[str, str]


def external(query: Query, recalled: Recalled, tools: Tools, config: Config, *, further: int = 0) -> Recalled:
    """The candidates with the sources' passages behind them, for the reranker to order.

    All are asked for a complex question, and on each further pass (`further` from 1) of the corrective loop; where the
    LLM chose some (choose), those alone, on every pass. Degraded by `external` when every source failed, which is
    another thing than having found nothing.
    """
    chosen = tuple(one for one in tools.sources if one.name in query.sources)
    sources = chosen or (tools.sources if query.kind == "complex" or further else ())
    if not sources:
        reason = "a simple question" if tools.sources else "no source is configured"
        return replace(recalled, decision="off", reason=reason, data={}, degraded=())
    found = gather(query.full, sources, config, timeout_s=time_out(query, recalled, config, further))
    all_failed = len(found.failed) == len(sources)
    added = _candidates(query, found, recalled, tools, config)
    held = {one.passage.content_id for one in recalled.candidates}
    fresh = tuple(one for one in added if one.passage.content_id not in held)
    return replace(
        recalled,
        decision="all sources failed" if all_failed else f"{len(fresh)} passages",
        reason="; ".join(f"{name}: {why}" for name, why in sorted(found.failed.items())),
        degraded=("external",) if all_failed else (),
        candidates=(*recalled.candidates, *fresh),
        data={
            "found": {name: [one.url for one in passages] for name, passages in found.passages.items()},
            "failed": dict(found.failed),
        },
    )


def time_out(query: Query, recalled: Recalled, config: Config, further: int) -> float:
    """Seconds that the answer waits: longer on a further pass that still has nothing."""
    section = config.external
    if further and not recalled.candidates and section.retry_timeouts_s:
        return section.retry_timeouts_s[min(further, len(section.retry_timeouts_s)) - 1]
    return section.complex_timeout_s if query.kind == "complex" else section.simple_timeout_s


def gather(text: str, sources: Sequence[ExternalSource], config: Config, *, timeout_s: float) -> Gathered:
    """Ask all sources side by side; whoever has not answered in time has failed, and nobody waits for it."""
    asked = {one.name: _begun(one, text, limit=config.external.results, timeout_s=timeout_s) for one in sources}
    wait(asked.values(), timeout=timeout_s)
    passages: dict[str, Sequence[Passage]] = {}
    failed: dict[str, str] = {}
    for name, future in asked.items():
        if not future.done():
            failed[name] = f"no answer within {timeout_s:g} s"
            continue
        try:
            passages[name] = future.result()
        except RemoteError as error:
            failed[name] = str(error)
    return Gathered(passages=passages, failed=failed)


def _begun(source: ExternalSource, text: str, *, limit: int, timeout_s: float) -> Future[list[Passage]]:
    """A search on a thread of its own that keeps no process alive: one that hangs is left behind."""
    future: Future[list[Passage]] = Future()

    def run() -> None:
        try:
            future.set_result(source.search(text, limit=limit, timeout_s=timeout_s))
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, name=f"external {source.name}", daemon=True).start()
    return future


def _candidates(
    query: Query, found: Gathered, recalled: Recalled, tools: Tools, config: Config
) -> tuple[Candidate, ...]:
    """Matched by the forum's own statistics, so that the reranker compares like with like."""
    ranked = [(name, rank, one) for name, some in found.passages.items() for rank, one in enumerate(some, 1)]
    fits = _matches(query, [one for _, _, one in ranked], recalled, tools)
    return tuple(
        Candidate(passage=one, ranks={name: rank}, rrf=1 / (config.recall.rrf_k + rank), match=fits.get(place, Match()))
        for place, (name, rank, one) in enumerate(ranked)
    )


def _matches(query: Query, passages: Sequence[Passage], recalled: Recalled, tools: Tools) -> dict[int, Match]:
    if not passages:
        return {}
    asked = terms(query.full)
    held = [Counter(terms(f"{one.title}\n{one.text}")) for one in passages]
    titles = [tuple(dict.fromkeys(terms(one.title))) for one in passages]
    known = tools.index.statistics(sorted({*asked, *(term for title in titles for term in title)}))
    lengths = [one.total() for one in held]
    corpus = replace(known, documents=max(known.documents, 1), average_length=sum(lengths) / len(lengths))
    counted = {
        place: Counted(counts=counts, length=lengths[place], title_terms=titles[place])
        for place, counts in enumerate(held)
    }
    return matched(asked, counted, corpus, _closeness(query, passages, recalled, tools))


def _closeness(query: Query, passages: Sequence[Passage], recalled: Recalled, tools: Tools) -> Closeness | None:
    try:
        vectors = tools.embedder.embed_passages([f"{one.title}\n\n{one.text}"[:2000] for one in passages])
        cosines = vectors @ tools.embedder.embed_query(query.full)
    except (RemoteError, ModelMismatch):
        return None
    beside = recalled.candidates[0].match if recalled.candidates else Match()
    return Closeness(
        embedder=tools.embedder.model.name,
        cosines=dict(enumerate(cosines.tolist())),
        mean=beside.background_mean,
        spread=beside.background_spread,
    )
