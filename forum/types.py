"""The values that pass between the stages: all frozen, all keyword-only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class Category:
    """A category and who may read it."""

    id: int
    name: str = ""
    slug: str = ""
    parent_id: int | None = None
    #: True when not everyone may read it. A category that nobody described is treated as restricted.
    read_restricted: bool = True
    #: The groups that may read it, when restricted.
    group_ids: frozenset[int] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class Topic:
    """A topic as its source tells it; None means that the source does not say."""

    id: int
    title: str
    slug: str = ""
    category_id: int | None = None
    tags: tuple[str, ...] = ()
    archetype: str = "regular"
    visible: bool = True
    closed: bool = False
    archived: bool = False
    created_at: datetime | None = None
    deleted_at: datetime | None = None
    posts_count: int | None = None
    like_count: int | None = None
    views: int | None = None
    accepted_post_id: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Post:
    """A post as its source tells it, before cleaning."""

    id: int
    topic_id: int
    post_number: int
    cooked: str
    created_at: datetime
    updated_at: datetime
    raw: str | None = None
    #: None when the user was deleted; 0 and below are bots.
    user_id: int | None = None
    username: str = ""
    version: int = 1
    #: 1 regular, 2 moderator action, 3 small action, 4 whisper.
    post_type: int = 1
    reply_to_post_number: int | None = None
    hidden: bool = False
    deleted_at: datetime | None = None
    user_deleted: bool = False
    like_count: int = 0
    staff: bool = False
    trust_level: int | None = None
    #: None when the source does not say.
    accepted_answer: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SourcePost:
    """A post with its topic: what every source of posts yields."""

    post: Post
    topic: Topic


@dataclass(frozen=True, kw_only=True, slots=True)
class Thread:
    """Where an answer will stand: of the opened categories it may cite what every reader of this topic may read."""

    topic_id: int
    #: Counts while the index does not know the topic.
    category_id: int | None = None
    #: Restricted categories that the operator opened.
    opened_category_ids: frozenset[int] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """What a recall may see, beside the public predicate that always holds."""

    #: Only what existed before this instant (an eval's `asked_at`); None: now.
    before: datetime | None = None
    #: With `before`: later posts of a topic begun before it may be found (their signals still end there).
    whole_topics: bool = False
    exclude_topic_ids: frozenset[int] = frozenset()
    exclude_post_ids: frozenset[int] = frozenset()
    #: A persona's categories; None: all.
    category_ids: frozenset[int] | None = None
    #: The asking thread; None: only what everyone may read.
    thread: Thread | None = None
    #: A persona's document collections.
    collections: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """One row of a channel's list, best first; `score` is the channel's own."""

    post_id: int
    topic_id: int
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Signals:
    """What the community knows of a topic, as it stood at the question's time."""

    #: Distinct other topics that had linked to this one.
    links_in: int = 0
    topic_posts: int = 1
    topic_age_days: float = 0.0
    topic_likes: int = 0
    post_likes: int = 0
    accepted: bool = False
    staff: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """How a post fits a question by words and by vector, whichever channel found it; shares are 0 to 1."""

    #: The embedder of the cosine; "" without vectors.
    embedder: str = ""
    #: Cosine of the question and the post; None without vectors.
    cosine: float | None = None
    #: Mean and standard deviation of the question's cosine to a fixed sample of the forum's posts.
    background_mean: float = 0.0
    background_spread: float = 0.0
    #: BM25 over the question's terms, and the sum of those terms' idf: what it is measured against.
    bm25: float = 0.0
    idf_sum: float = 0.0
    #: The share, by idf, of the question's terms that the post or its title holds; terms that no post holds count.
    coverage: float = 0.0
    #: The same over the rarest three terms.
    rare_coverage: float = 0.0
    #: The share, by idf, of the title's terms that the question holds.
    title_overlap: float = 0.0
    #: The share, by idf, of the question's terms that no post of the forum holds.
    unknown: float = 0.0
    #: The same for one more post of this forum, by its size: what `unknown` is to be compared with.
    novelty: float = 0.0
    #: The question's distinct terms.
    question_terms: int = 0
    #: The forum's posts.
    documents: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """A piece of text that may be cited: a public post, later also a document's section or a web page."""

    #: `post:ID:VERSION`, `doc:SHA`, `web:SHA`: stable while the text is.
    content_id: str
    kind: str = "post"
    post_id: int = 0
    topic_id: int = 0
    post_number: int = 0
    version: int = 1
    title: str
    slug: str = ""
    category: str = ""
    category_id: int | None = None
    tags: tuple[str, ...] = ()
    #: Clean text, untrusted.
    text: str
    username: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None
    #: For kinds other than post: built by our code from the operator's map, never by a model.
    url: str | None = None
    signals: Signals = Signals()


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A passage with what each channel and the reranker think of it."""

    passage: Passage
    #: Rank from 1 in each channel that returned it.
    ranks: Mapping[str, int] = field(default_factory=lambda: _EMPTY)
    #: The channel's own score (cosine, BM25).
    scores: Mapping[str, float] = field(default_factory=lambda: _EMPTY)
    rrf: float = 0.0
    match: Match = Match()
    #: How many posts of the passage's topic the channels returned.
    support: int = 1
    #: The reranker's logit; None when no reranker ran.
    logit: float | None = None
    #: The logit of the post through which its thread was found, where this one stands beside it or in its place.
    thread_logit: float | None = None
    #: The excerpt that the reranker saw and the evidence block shows first.
    excerpt: str = ""


class Zone(StrEnum):
    """How much the evidence is worth."""

    ABSTAIN = "abstain"
    WEAK = "weak"
    OK = "ok"


class Route(StrEnum):
    """The path that a question took through the stages."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"
    GATED = "gated"
    CHITCHAT = "chitchat"
    UNSAFE = "unsafe"
    EMPTY = "empty"
    REFUSED = "refused"


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """An earlier post of the reply chain."""

    author: str
    text: str
    is_bot: bool = False
    #: Content ids that a turn of the bot cited.
    cited: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What a member asked, cleaned of the mention."""

    #: Untrusted clean text, without the bot's mention.
    text: str
    #: The topic's title, when the question stands in a topic.
    title: str = ""
    #: None: detect.
    language: str | None = None
    asked_at: datetime | None = None
    post_id: int | None = None
    topic_id: int | None = None
    asker: str = ""
    category_id: int | None = None
    conversation: tuple[Turn, ...] = ()
    persona: str = ""
    #: A topic was opened and nobody asked the bot: point to older topics or keep silent.
    opening: bool = False
    #: It stands below other posts, so the topic's title may be about something else.
    below: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Citation:
    """A kept marker: the post behind it and the verbatim piece that supports the sentence."""

    n: int
    url: str
    post_id: int
    topic_id: int
    post_number: int
    quote: str
    content_id: str = ""
    title: str = ""
    created_at: datetime | None = None
    accepted: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One call of a stage to a model, the index or a service outside; nothing of what was said."""

    #: embedder, reranker, llm, index, discourse, or a source's name.
    service: str
    call: str
    ms: float
    #: ok, unavailable, refused, cut, failed, or unfinished (nobody waited for it); with the status where there is one.
    outcome: str = "ok"


@dataclass(frozen=True, kw_only=True, slots=True)
class StageRecord:
    """What a stage decided and why, for the trace; `data` is JSON."""

    stage: str
    decision: str
    reason: str = ""
    ms: float = 0.0
    data: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """Whether the retrieved passages answer the question."""

    has_answer: bool
    #: 0 to 1.
    confidence: float
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The finished answer: what is posted and what is told about it."""

    text: str
    zone: Zone
    route: Route
    language: str
    low_confidence: bool = False
    citations: tuple[Citation, ...] = ()
    sources: tuple[Candidate, ...] = ()
    evaluation: Evaluation = Evaluation(has_answer=False, confidence=0.0, reason="")
    trace_id: str = ""
    trace: tuple[StageRecord, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=lambda: _EMPTY)
    degraded: tuple[str, ...] = ()
