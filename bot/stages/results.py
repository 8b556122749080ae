"""What each stage hands to the next: frozen values that carry their decision and its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from forum.markdown import Block
from forum.types import Candidate, Citation, Evaluation, Question, Route, Zone


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """The part that the trace stores of every stage."""

    decision: str
    reason: str = ""
    #: What was down or cut short, e.g. `embedder`, `reranker`, `llm`.
    degraded: tuple[str, ...] = ()
    #: JSON for the trace: ranks, scores, prompts, whatever explains the decision.
    data: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked(Result):
    """read: the question as it will be answered, and in which language."""

    question: Question
    language: str
    #: A fixed reply that ends the run (an empty mention, a question that is too long).
    reply: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gated(Result):
    """gate: `reply` is set when a rule matched."""

    reply: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Triaged(Result):
    """triage: chitchat, unsafe, simple or complex; `reply` is set for the first two."""

    kind: str = "simple"
    sub_questions: tuple[str, ...] = ()
    reply: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Query(Result):
    """condense: the texts to look for; the first is the whole question standing alone."""

    question: Question
    language: str
    #: The question standing alone (a follow-up rewritten).
    text: str
    #: The topic's title where it says something, else "".
    title: str = ""
    sub_questions: tuple[str, ...] = ()
    kind: str = "simple"
    #: Outside the forum: those that the LLM chose; they stay the same on further passes.
    sources: tuple[str, ...] = ()

    @property
    def full(self) -> str:
        """Title and text, as the embedder and the reranker see the question."""
        return f"{self.title}\n{self.text}".strip() if self.title else self.text


@dataclass(frozen=True, kw_only=True, slots=True)
class Recalled(Result):
    """recall: the fused candidates, best first, each with its rank and score by channel."""

    candidates: tuple[Candidate, ...]
    #: `posts` or `legacy`.
    pipeline: str = "posts"


@dataclass(frozen=True, kw_only=True, slots=True)
class Reranked(Result):
    """rerank: the candidates in the order of their logits, or in RRF order when the reranker is off or down."""

    candidates: tuple[Candidate, ...]
    #: The reranker whose logits these are; "" when none ran.
    model_id: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence(Result):
    """aggregate: the best post of each topic, at most `evidence.sources`; n of a marker = place here, from 1."""

    sources: tuple[Candidate, ...]
    model_id: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Zoned(Result):
    """zone: how much the evidence is worth; in `abstain`, `sources` are suggestions and may not be cited."""

    zone: Zone
    evidence: Evidence
    evaluation: Evaluation
    low_confidence: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Drafted(Result):
    """generate: Markdown with `[[n]]` markers, untrusted when an LLM wrote it."""

    text: str
    #: `llm`, `quote` or `refusal`.
    writer: str
    #: What the quoting writer made: not parsed from text, so that nothing in a post can act as Markdown.
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified(Result):
    """verify: the draft with its unsupported sentences dropped or demoted."""

    blocks: tuple[Block, ...]
    writer: str
    #: The sources as they are now; n of a marker = place here, from 1.
    sources: tuple[Candidate, ...]
    #: For each kept marker n: the verbatim piece of the post that supports the sentence.
    quotes: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, kw_only=True, slots=True)
class Rendered(Result):
    """render: the reply as it is posted."""

    text: str
    citations: tuple[Citation, ...]
    route: Route
