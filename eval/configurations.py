"""The configurations of retrieval that are measured beside each other, each by what it sets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Configuration:
    """A row of the table: what `python -m eval retrieval --set ... --form ...` would run."""

    name: str
    says: str
    settings: tuple[str, ...] = ()
    form: str = "full"


#: The row that the others are compared with: config.yml as it comes.
DEFAULTS = "defaults"

_ONE_TEXT = "recall.title_alone=false"

#: A to E are the design's, each one part more than the one before; the rest changes one thing of the defaults.
CONFIGURATIONS = (
    Configuration(name=DEFAULTS, says="posts and keyword, the title searched by itself too"),
    Configuration(
        name="A",
        says="posts alone",
        settings=("recall.channels=[posts]", _ONE_TEXT, "flags.neighbours=false", "flags.rerank=false"),
    ),
    Configuration(
        name="B", says="A and rerank", settings=("recall.channels=[posts]", _ONE_TEXT, "flags.neighbours=false")
    ),
    Configuration(
        name="C", says="B and neighbours", settings=("recall.channels=[posts]", _ONE_TEXT, "flags.neighbours=true")
    ),
    Configuration(name="D", says="C and keyword", settings=("recall.channels=[posts, keyword]", _ONE_TEXT)),
    Configuration(name="E", says="D and topics", settings=("recall.channels=[posts, keyword, topics]", _ONE_TEXT)),
    Configuration(
        name="topics", says="the defaults and topics", settings=("recall.channels=[posts, keyword, topics]",)
    ),
    Configuration(
        name="topics, weight 1",
        says="topics count as much as the others",
        settings=("recall.channels=[posts, keyword, topics]", "recall.topics_weight=1"),
    ),
    Configuration(name="title", says="the title alone", form="title"),
    Configuration(name="condensed", says="the title and the sentences that ask", form="condensed"),
    Configuration(name="title+body", says="title and body as one text", settings=(_ONE_TEXT,)),
    Configuration(name="300 characters", says="half of the body", settings=("recall.question_characters=300",)),
    Configuration(name="2000 characters", says="all of most bodies", settings=("recall.question_characters=2000",)),
    Configuration(name="legacy", says="keyword, topics, title gate, boosts", settings=("flags.posts_pipeline=false",)),
    Configuration(
        name="legacy, no boosts", says="keyword and topics, RRF", settings=("recall.channels=[keyword, topics]",)
    ),
    Configuration(name="keyword", says="keyword alone", settings=("recall.channels=[keyword]",)),
    Configuration(name="RRF k 10", says="", settings=("recall.rrf_k=10",)),
    Configuration(name="RRF k 120", says="", settings=("recall.rrf_k=120",)),
    Configuration(name="50 a channel", says="twice the candidates", settings=("recall.limit=50",)),
    Configuration(name="rerank 25", says="only the first 25 are reranked", settings=("reranker.depth=25",)),
    Configuration(name="rerank 50", says="the first 50", settings=("reranker.depth=50",)),
    Configuration(name="rerank 100", says="the first 100", settings=("reranker.depth=100",)),
)


def of_cross_encoder(model: str) -> tuple[Configuration, ...]:
    """A cross-encoder in the place of `features`: by depth, and by how the excerpt is chosen."""
    reranker = ("reranker.backend=sentence-transformers", f"reranker.model={model}")
    return tuple(
        Configuration(
            name=f"cross-encoder {depth}, {excerpt}",
            says=f"the first {depth}, the {'best window' if excerpt == 'relevant' else 'first characters'} of each",
            settings=(*reranker, f"reranker.depth={depth}", f"reranker.excerpt={excerpt}"),
        )
        for depth in (25, 50, 100)
        for excerpt in ("first", "relevant")
    )
