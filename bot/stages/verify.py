"""Stage verify: every sentence is held against the posts that it cites, as they are now; the unsupported ones go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from bot.quote import quote
from bot.scope import scope_of
from bot.stages.results import Drafted, Query, Verified, Zoned
from bot.tools import Tools
from forum.config import Config
from forum.errors import RemoteError, ThreadciteError
from forum.language import detect
from forum.markdown import MARK, Block, addresses, mark, marks, parse, plain, with_addresses
from forum.pieces import pieces
from forum.sentences import sentences
from forum.support import (
    Idf,
    anchors,
    best_quote,
    foreign_names,
    inverse_document_frequency,
    joined,
    missing_exact,
    support,
)
from forum.terms import terms
from forum.types import Candidate, Scope
from forum.window import best_window
from forum.zones import BUILT_IN, thresholds_for

#: A sentence of a source is near a claim in another language when its cosine stands out this far from the rest's.
_STANDS_OUT = 1.5
#: A line that leads up to a list or to code claims nothing by itself, if it is no longer than this.
_LEAD = 160
#: Likes from which a post that is neither accepted nor the staff's may show an address.
_TRUSTED_LIKES = 2


def verify(query: Query, drafted: Drafted, zoned: Zoned, tools: Tools, config: Config) -> Verified:
    """Read the sources again as they are now, keep what they support, move a marker to the source that does.

    When nothing of an LLM's draft is left, the quoting answer takes its place: never an empty claim.
    """
    if drafted.writer == "refusal":
        return Verified(decision="nothing to verify", writer="refusal", blocks=(), sources=zoned.evidence.sources)
    sources, gone = _as_now(zoned.evidence.sources, tools, scope_of(query.question, config))
    texts = {n: one.passage.text for n, one in enumerate(sources, 1) if one.passage.content_id not in gone}
    bench = _Bench(query, sources, texts, tools, config)
    if drafted.writer == "quote":
        found, dropped = _verbatim(drafted.blocks, texts)
        kept = list(bench.shown(tuple(found)))
    else:
        kept, dropped = bench.judged(parse(drafted.text, sources=len(sources)))
    if not any(marks(block.text) for block in kept) and drafted.writer == "llm":
        usable = tuple(one for one in sources if one.passage.content_id not in gone)
        still = replace(zoned, evidence=replace(zoned.evidence, sources=usable))
        again = quote(query, still, tools, reason="nothing that the LLM wrote is supported")
        now = {n: one.passage.text for n, one in enumerate(usable, 1)}
        return Verified(
            decision="quoted instead",
            reason=again.reason,
            writer="quote",
            blocks=_Bench(query, usable, now, tools, config).shown(again.blocks),
            sources=usable,
            quotes=_snippets(again.blocks, now, bench.idf),
            data={"dropped": dropped, "gone": sorted(gone)},
        )
    return Verified(
        decision="kept" if kept else "nothing left",
        reason=f"{len(dropped)} sentences dropped" if dropped else "",
        writer=drafted.writer,
        blocks=tuple(kept),
        sources=sources,
        quotes=_snippets(kept, texts, bench.idf, bench.closest),
        degraded=(*drafted.degraded, *bench.degraded),
        data={"dropped": dropped, "gone": sorted(gone), "sentences": bench.log},
    )


def _as_now(sources: tuple[Candidate, ...], tools: Tools, scope: Scope) -> tuple[tuple[Candidate, ...], frozenset[str]]:
    """The sources with their text of this moment, and the content ids of those that may not be seen any more."""
    ids = [one.passage.post_id for one in sources if one.passage.kind == "post"]
    now = tools.index.passages(ids, scope=scope) if ids else {}
    fresh: list[Candidate] = []
    gone: set[str] = set()
    for one in sources:
        if one.passage.kind != "post":
            fresh.append(one)
        elif (passage := now.get(one.passage.post_id)) is None:
            gone.add(one.passage.content_id)
            fresh.append(one)
        else:
            fresh.append(replace(one, passage=replace(passage, signals=one.passage.signals)))
    return tuple(fresh), frozenset(gone)


def _verbatim(blocks: tuple[Block, ...], texts: Mapping[int, str]) -> tuple[list[Block], list[str]]:
    """Blocks of quotes whose words still stand in the posts."""
    kept: list[Block] = []
    dropped: list[str] = []
    for block in blocks:
        said = block.text if block.kind == "code" else plain(block.text)
        cited = marks(block.text) or sorted(texts)
        if not said or any(_flat(said) in _flat(texts.get(n, "")) for n in cited):
            kept.append(block)
        else:
            dropped.append(said)
    return kept, dropped


def _flat(text: str) -> str:
    return " ".join(text.split())


def _snippets(
    blocks: tuple[Block, ...] | list[Block],
    texts: Mapping[int, str],
    idf: Idf,
    closest: Mapping[int, str] | None = None,
) -> dict[int, str]:
    """For each marker the verbatim piece of its post that says most of what the sentence says."""
    best: dict[int, tuple[float, str]] = {}
    for block in blocks:
        for sentence in sentences(block.text) if block.kind != "code" else ():
            for n in marks(sentence):
                piece, score = best_quote(plain(sentence), [one.text for one in pieces(texts.get(n, ""))], idf)
                if piece and score > best.get(n, (-1.0, ""))[0]:
                    best[n] = (score, piece)
    return {n: (closest or {}).get(n) or piece for n, (_, piece) in best.items()}


@dataclass(slots=True)
class _Judgement:
    good: list[int]
    why: str


class _Bench:
    """Judges the sentences of one draft; what it looks up once is kept for the rest."""

    def __init__(
        self, query: Query, sources: tuple[Candidate, ...], texts: dict[int, str], tools: Tools, config: Config
    ) -> None:
        self._query, self._sources, self._texts, self._tools, self._config = query, sources, texts, tools, config
        self.idf: Idf = lambda term: 1.0
        self.log: list[list[object]] = []
        self.degraded: tuple[str, ...] = ()
        #: Where only the meaning was compared: the piece of source n that came closest.
        self.closest: dict[int, str] = {}
        self._vectors: tuple[list[tuple[int, str]], np.ndarray] | None = None
        self._language = cache(self._detected)

    def judged(self, blocks: tuple[Block, ...]) -> tuple[list[Block], list[str]]:
        self.idf = _idf(blocks, self._texts, self._tools)
        kept: list[Block] = []
        dropped: list[str] = []
        for block in blocks:
            if not self._config.flags.verify_citations:
                kept.append(self.with_addresses(block))
            elif block.kind == "code":
                if self._is_code_of_sources(block):
                    kept.append(block)
                else:
                    dropped.append(block.text)
            else:
                said = [(self._sentence(sentence), plain(sentence)) for sentence in sentences(block.text)]
                dropped += [claim for judged, claim in said if not judged]
                if text := " ".join(judged for judged, _ in said if judged):
                    kept.append(self.with_addresses(replace(block, text=text)))
        return _without_dangling(kept), dropped

    def _sentence(self, sentence: str) -> str:
        """The sentence with the markers that support it; "" when it claims something that no source says."""
        claim = plain(sentence)
        if not terms(claim):
            return ""
        bare = MARK.sub("", sentence).rstrip()
        if bare.endswith(":") and len(bare) <= _LEAD and not marks(sentence):
            return bare if self._is_lead(claim) else ""
        verdict = self._judge(claim, [n for n in marks(sentence) if n in self._texts])
        self.log.append([claim[:200], marks(sentence), verdict.good, verdict.why])
        if not verdict.good:
            return ""
        end = bare[-1:] if bare[-1:] in ".!?…" else ""
        return f"{bare.removesuffix(end).rstrip()} {''.join(map(mark, verdict.good))}{end}"

    def _judge(self, claim: str, cited: list[int]) -> _Judgement:
        least = self._config.verify.min_support
        scores = {n: support(claim, text, self.idf) for n, text in self._texts.items()}
        if good := [n for n in cited if scores[n].score >= least]:
            return _Judgement(good, "words")
        together = [n for n in cited if scores[n].score > 0 or scores[n].lacks == "figures"]
        if len(together) > 1 and support(claim, joined([self._texts[n] for n in together]), self.idf).score >= least:
            return _Judgement(together, "words of several")
        if good := [n for n in cited if scores[n].lacks != "denied" and self._is_meant(claim, n)]:
            return _Judgement(good, "meaning")
        ranked = sorted(((found.score, -n) for n, found in scores.items()), reverse=True)
        if moved := [-n for score, n in ranked[:1] if score >= least]:
            return _Judgement(moved, "moved to the source that says it")
        return _Judgement([], next((scores[n].lacks for n in cited if scores[n].lacks), "") or "no source says it")

    def _is_meant(self, claim: str, n: int) -> bool:
        """Where words cannot decide: a source in another language, or the reranker's turn.

        Figures, names and proper names must stand in the source all the same.
        """
        text = self._texts[n]
        if missing_exact(claim, text) or foreign_names(claim, text):
            return False
        if self._config.verify.use_reranker and (judged := self._reranked(claim, n)) is not None:
            return judged
        spoken = (self._language(claim), self._language(text))
        if spoken[0] == spoken[1] or "" in spoken:
            return False
        near = self._near(claim, n)
        return anchors(claim, text) > 0 if near is None else near

    def _reranked(self, claim: str, n: int) -> bool | None:
        """By the cross-encoder's own threshold for `ok`; None where there is none that reads both texts."""
        if self._tools.reranker.model_id == "features":
            return None
        try:
            seen = replace(self._sources[n - 1], excerpt=best_window(self._texts[n], claim, 600))
            [logit] = self._tools.reranker.score(claim, [seen])
            limits = thresholds_for(self._tools.reranker.model_id, (*self._config.reranker.zones, *BUILT_IN))
        except ThreadciteError:
            self.degraded = ("reranker",)
            return None
        return logit >= limits.ok

    def _near(self, claim: str, n: int) -> bool | None:
        """The sentence nearest to the claim, of all sources, is the source's own and stands out; None: no embedder."""
        if self._vectors is None:
            said = [(k, one.text) for k, text in self._texts.items() for one in pieces(text)][:200]
            try:
                self._vectors = (said, np.asarray(self._tools.embedder.embed_passages([text for _, text in said])))
            except RemoteError:
                self.degraded = ("embedder",)
                return None
        said, vectors = self._vectors
        try:
            cosines = vectors @ np.asarray(self._tools.embedder.embed_passages([claim]))[0]
        except RemoteError:
            return None
        best = max(range(len(said)), key=lambda at: float(cosines[at]))
        if said[best][0] != n or cosines[best] < cosines.mean() + _STANDS_OUT * cosines.std():
            return False
        self.closest[n] = said[best][1]
        return True

    def _is_lead(self, claim: str) -> bool:
        """A line before a list: its own words come from the question or the sources, it brings no figure of its own."""
        everything = joined([self._query.full, *self._texts.values()])
        return support(claim, everything, self.idf).score >= self._config.verify.min_support

    def _is_code_of_sources(self, block: Block) -> bool:
        """Every line of it stands in one source: code is copied, never made up."""
        lines = [_flat(line) for line in block.text.split("\n") if line.strip()]
        return any(all(line in _flat(text) for line in lines) for text in self._texts.values())

    def shown(self, blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        return tuple(self.with_addresses(block) for block in blocks)

    def with_addresses(self, block: Block) -> Block:
        """Addresses that a cited post of good standing holds are shown as code, never as links; all others are cut."""
        allowed = {
            address
            for n in marks(block.text)
            if n in self._texts and trusted(self._sources[n - 1])
            for address in addresses(self._texts[n])
        }
        return replace(block, text=with_addresses(block.text, allowed)) if block.kind != "code" else block

    def _detected(self, text: str) -> str:
        guess = detect(text, self._config.forum.languages)
        return guess.code if guess.confidence else ""


def trusted(source: Candidate) -> bool:
    """A post that the community vouches for: accepted, by staff, or liked."""
    signals = source.passage.signals
    return signals.accepted or signals.staff or signals.post_likes >= _TRUSTED_LIKES


def _without_dangling(blocks: list[Block]) -> list[Block]:
    """A line that leads up to something goes when nothing of it is left."""
    kept: list[Block] = []
    for place, block in enumerate(blocks):
        following = blocks[place + 1] if place + 1 < len(blocks) else None
        leads = block.kind != "code" and not marks(block.text)
        if not leads or (following is not None and (following.kind == "code" or marks(following.text))):
            kept.append(block)
    return kept


def _idf(blocks: tuple[Block, ...], texts: Mapping[int, str], tools: Tools) -> Idf:
    known = {term for block in blocks for term in terms(plain(block.text))}
    known |= {term for text in texts.values() for term in terms(text)}
    return inverse_document_frequency(tools.index.statistics(sorted(known)))
