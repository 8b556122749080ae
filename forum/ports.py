"""The seams to everything outside, as Protocols of one to a few methods each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from forum.bm25 import Corpus
from forum.types import Candidate, Category, Hit, Match, Passage, Post, Scope, SourcePost, Topic

Vectors = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddingModel:
    """What identifies an embedder: vectors of different names are never compared."""

    #: `backend/model`, e.g. `wordllama/l2-supercat-256`.
    name: str
    dimensions: int
    #: In tokens of the model (about four characters each where it does not tell).
    max_tokens: int


class Embedder(Protocol):
    """Texts to unit vectors, float32 of shape (len(texts), dimensions)."""

    @property
    def model(self) -> EmbeddingModel: ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed posts. Raises RemoteUnavailable or RemoteRefused."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Embed one question, shape (dimensions,)."""
        ...


class Reranker(Protocol):
    """Logits for (question, candidate) pairs."""

    @property
    def model_id(self) -> str: ...

    def score(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """One raw logit a candidate, in the order given; an empty list makes no call."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A chat message; role is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """Something that a chat model may call by its name, without arguments."""

    name: str
    description: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatReply:
    """What a chat model wrote; untrusted."""

    text: str
    #: stop, length, ...
    done_reason: str = "stop"
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    #: The names of the tools that it called, as it wrote them; "" for a call that names none.
    tools: tuple[str, ...] = ()


class ChatModel(Protocol):
    """A chat-tuned LLM."""

    @property
    def model_id(self) -> str: ...

    @property
    def context_tokens(self) -> int: ...

    def chat(
        self,
        messages: Sequence[Message],
        *,
        timeout_s: float,
        max_tokens: int = 1024,
        temperature: float = 0.0,
        tools: Sequence[Tool] = (),
    ) -> ChatReply:
        """Raises RemoteUnavailable or RemoteRefused (also where it cannot call `tools`); never returns reasoning as
        text."""
        ...


class ExternalSource(Protocol):
    """A source outside the forum, e.g. an encyclopaedia."""

    @property
    def name(self) -> str: ...

    def search(self, text: str, *, limit: int, timeout_s: float) -> list[Passage]:
        """At most `limit` passages of kind `web`, best first. Raises RemoteUnavailable or RemoteRefused."""
        ...


class Index(Protocol):
    """The searchable public posts; every method applies the public predicate in SQL."""

    def nearest(self, vector: Vectors, *, limit: int, scope: Scope) -> list[Hit]:
        """Channel `posts`: cosine similarity over the active model's post vectors, best first."""
        ...

    def keyword(self, text: str, *, limit: int, scope: Scope) -> list[Hit]:
        """Channel `keyword`: BM25 with global statistics, best first."""
        ...

    def nearest_topics(self, vector: Vectors, *, limit: int, scope: Scope) -> list[Hit]:
        """Channel `topics`: cosine over topic vectors; each hit names the topic's best post."""
        ...

    def passages(self, post_ids: Sequence[int], *, scope: Scope) -> dict[int, Passage]:
        """The posts that are public now, with community signals as of `scope.before`."""
        ...

    def matches(self, post_ids: Sequence[int], *, text: str, vector: Vectors | None, scope: Scope) -> dict[int, Match]:
        """How each of these public posts fits the question, by words and (given its vector) by cosine."""
        ...

    def neighbours(self, post_ids: Sequence[int], *, radius: int, scope: Scope) -> dict[int, list[Passage]]:
        """The public posts around each, by post number, itself left out."""
        ...

    def statistics(self, terms: Sequence[str]) -> Corpus:
        """How many posts there are, and how many hold each term (forum.terms), over the whole index."""
        ...

    def size(self) -> int:
        """How many posts are indexed and public."""
        ...


class PostSource(Protocol):
    """A resumable stream of posts: same post, same row, whatever the source."""

    #: Categories that nobody described are public, by the operator's word (an archive).
    declared_public: bool
    #: Its topics tell visibility, tags, closing and deletion too, as a post's own JSON does not.
    complete_topics: bool
    #: It reads the forum as it is now (API, database); an archive only tells what once was.
    observes: bool
    #: What was passed over before it became a post: reason -> count.
    skipped: Counter[str]

    @property
    def name(self) -> str: ...

    def total(self) -> int | None:
        """How many posts there are, as far as the source can say."""
        ...

    def categories(self) -> Sequence[Category]: ...

    def topics(self) -> Iterable[Topic]:
        """Topics in full, where the source's posts do not tell them so; read before the posts."""
        ...

    def posts(self, *, after: str | None = None) -> Iterator[tuple[SourcePost, str]]:
        """Posts with the cursor that resumes right after each. Raises SourceError."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Created:
    """The forum took our post. `post` is None when it waits for approval (`action: enqueued`)."""

    post: Post | None
    enqueued: bool = False


class ForumClient(Protocol):
    """The part of Discourse's API that we use."""

    def post(self, post_id: int) -> SourcePost: ...

    def topic(self, topic_id: int) -> Topic: ...

    def topic_posts(self, topic_id: int, post_ids: Sequence[int] | None = None) -> list[SourcePost]: ...

    def latest_posts(self, before: int | None = None) -> list[SourcePost]: ...

    def categories(self, *, opened: Collection[int] = ()) -> list[Category]:
        """Those of `opened` with the groups that may read them."""
        ...

    def create_post(
        self, *, topic_id: int, raw: str, reply_to_post_number: int | None = None, whisper: bool = False
    ) -> Created: ...

    def create_topic(self, *, title: str, raw: str, category_id: int) -> int | None:
        """The new topic's id; None when it waits for approval."""
        ...

    def edit_post(self, post_id: int, *, raw: str, reason: str = "", original: str | None = None) -> Post: ...

    def delete_post(self, post_id: int) -> None: ...

    def acting_as(self, username: str) -> ForumClient:
        """The same forum, written to under another account of the bot; "" is the bot itself."""
        ...

    def replies(self, post_id: int) -> list[Post]:
        """The direct replies to a post."""
        ...

    def first_post(self, topic_id: int) -> SourcePost | None: ...

    def last_posts(self, topic_id: int) -> list[SourcePost]:
        """The newest twenty posts of a topic."""
        ...
