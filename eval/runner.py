"""Runs the product's own recall and rerank stages over a question set and keeps what they found."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import track

from bot.stages.recall import recall
from bot.stages.rerank import rerank
from bot.stages.results import Query
from bot.tools import Tools
from clients.composition import build_embedder, build_reranker
from clients.postgres.index import PostgresIndex
from clients.postgres.pool import Database
from eval.as_of import AsOf
from eval.question_set import Asked
from forum.config import Config
from forum.ports import Embedder, Index, Reranker
from forum.sentences import sentences
from forum.types import Candidate, Question

Item = TypeVar("Item")

#: Title and body; the title alone; the title and the sentences of the body that ask.
FORMS = ("full", "title", "condensed")


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What the stages found for one question."""

    asked: Asked
    #: In the order of fusion.
    candidates: tuple[Candidate, ...]
    #: In the order of the reranker; with their logits when one ran.
    reranked: tuple[Candidate, ...]
    recall_ms: float
    rerank_ms: float
    degraded: tuple[str, ...] = ()

    def channel(self, name: str) -> list[int]:
        """The channel's own list of topics, best first."""
        ranked = [(one.ranks[name], one.passage.topic_id) for one in self.candidates if name in one.ranks]
        return [topic for _, topic in sorted(ranked)]

    def fused(self) -> list[int]:
        return [one.passage.topic_id for one in self.candidates]

    def top(self) -> float | None:
        """The logit that the zone is read from; None when there is no candidate or no reranker."""
        return self.reranked[0].logit if self.reranked else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Runner:
    """The parts to run with; `form` is what of a question is asked, one of FORMS."""

    index: Index
    embedder: Embedder
    reranker: Reranker
    config: Config
    whole_topics: bool = True
    form: str = "full"

    @classmethod
    def build(cls, config: Config, database: Database, **options: Any) -> Runner:
        """With the index, embedder and reranker that the config names."""
        embedder = build_embedder(config.embedder)
        return cls(
            index=PostgresIndex(database, embedder=embedder.model.name),
            embedder=embedder,
            reranker=build_reranker(config.reranker),
            config=config,
            **options,
        )

    def of_form(self, form: str) -> Runner:
        return replace(self, form=form)

    def run(self, questions: Sequence[Asked], label: str) -> list[Found]:
        """One Found a question, in order, with a progress bar on stderr."""
        return [self._one(one) for one in progress(questions, label)]

    def _one(self, asked: Asked) -> Found:
        index = AsOf(self.index, asked_at=asked.asked_at, topic_id=asked.topic_id, whole_topics=self.whole_topics)
        tools = Tools(index=index, embedder=self.embedder, reranker=self.reranker)
        query = query_of(asked, self.form)
        started = time.perf_counter()
        recalled = recall(query, tools, self.config)
        between = time.perf_counter()
        reranked = rerank(query, recalled, tools, self.config)
        return Found(
            asked=asked,
            candidates=recalled.candidates,
            reranked=reranked.candidates,
            recall_ms=(between - started) * 1000,
            rerank_ms=(time.perf_counter() - between) * 1000,
            degraded=(*recalled.degraded, *reranked.degraded),
        )


def query_of(asked: Asked, form: str = "full") -> Query:
    """The question as the condense stage would hand it on: in full, its title, or condensed to what asks."""
    body = {"full": asked.body, "title": "", "condensed": _asking(asked.body)}[form]
    text = body or asked.title
    title = asked.title if text != asked.title else ""
    question = Question(text=text, title=title, language=asked.language)
    return Query(decision="eval", question=question, language=asked.language, text=text, title=title)


def _asking(body: str) -> str:
    """The sentences that end in a question mark: what condensing keeps where there is no LLM."""
    return " ".join(one for one in sentences(body) if one.endswith("?"))


def progress(questions: Sequence[Item], label: str) -> Iterator[Item]:
    """A progress bar on stderr, only where somebody watches."""
    console = Console(file=sys.stderr)
    yield from track(questions, description=label, console=console, disable=not console.is_terminal, transient=True)


def with_order(found: Found, order: Sequence[float]) -> Found:
    """The same with the candidates ranked anew by `order`, one value a candidate of the fused list."""
    ranked = sorted(zip(order, range(len(found.candidates)), strict=True), key=lambda pair: (-pair[0], pair[1]))
    return replace(found, reranked=tuple(replace(found.candidates[at], logit=value) for value, at in ranked))
