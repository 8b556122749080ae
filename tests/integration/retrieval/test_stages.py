"""recall, rerank, aggregate and zone together on a real index, and what they do when something is down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from bot.stages.aggregate import aggregate
from bot.stages.recall import recall
from bot.stages.rerank import rerank
from bot.stages.results import Evidence, Query
from bot.stages.zone import zone
from bot.tools import Tools
from clients.features_reranker import FeaturesReranker
from clients.postgres.index import PostgresIndex
from clients.wordllama_embedder import WordLlamaEmbedder
from forum.config import Config, RerankerSection
from forum.errors import ModelMismatch, RemoteUnavailable
from forum.ports import Vectors
from forum.types import Candidate, Passage, Question, Zone
from tests.integration.retrieval.conftest import Write

_POSTS = [
    (1, "Chain rusts in winter", "How do I stop the chain from rusting on salted roads?"),
    (1, "Chain rusts in winter", "Wipe the chain dry after each ride and use a wax lubricant against rust."),
    (2, "Saddle height", "Set the saddle so that the leg is nearly straight."),
    (3, "Brake pads", "Organic pads wear out fast in the wet, sintered pads last longer."),
    (4, "Lights", "A dynamo light needs no battery and works in winter too."),
]


class _Down:
    """An embedder and a reranker that do not answer."""

    model = WordLlamaEmbedder.model
    model_id = "features"

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        raise RemoteUnavailable("embedder: no answer")

    def embed_query(self, text: str) -> Vectors:
        raise RemoteUnavailable("embedder: no answer")

    def score(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        raise RemoteUnavailable("reranker: no answer")


@pytest.fixture
def tools(index: PostgresIndex, embedder: WordLlamaEmbedder) -> Tools:
    return Tools(index=index, embedder=embedder, reranker=FeaturesReranker(RerankerSection()))


def _query(text: str) -> Query:
    return Query(decision="", question=Question(text=text), language="en", text=text)


def _evidence(text: str, tools: Tools) -> Evidence:
    query, config = _query(text), Config()
    return aggregate(query, rerank(query, recall(query, tools, config), tools, config), tools, config)


def test_the_answering_topic_comes_first_and_once(tools: Tools, write: Write) -> None:
    write(_POSTS)
    sources = _evidence("What keeps my chain from rust in winter?", tools).sources
    assert sources[0].passage.topic_id == 1
    assert len({one.passage.topic_id for one in sources}) == len(sources)


def test_every_source_says_which_channel_found_it_and_how_it_was_scored(tools: Tools, write: Write) -> None:
    write(_POSTS)
    first = _evidence("rust on the chain", tools).sources[0]
    assert {"posts", "keyword"} <= set(first.ranks)
    assert first.logit is not None
    assert first.excerpt


def test_a_question_of_another_world_abstains(tools: Tools, write: Write) -> None:
    write(_POSTS)
    evidence = _evidence("Which cryptocurrency exchange offers leveraged futures for stablecoins?", tools)
    assert zone(evidence, Config()).zone is Zone.ABSTAIN


def test_an_empty_index_abstains_and_says_empty(tools: Tools) -> None:
    zoned = zone(_evidence("anything at all", tools), Config())
    assert (zoned.zone, zoned.reason) == (Zone.ABSTAIN, "empty")


def test_without_the_embedder_the_keyword_channel_still_finds(tools: Tools, write: Write) -> None:
    write(_POSTS)
    recalled = recall(_query("rust on the chain"), replace(tools, embedder=_Down()), Config())
    assert recalled.pipeline == "legacy"
    assert recalled.degraded == ("embedder",)
    assert recalled.candidates[0].passage.topic_id == 1


def test_without_the_reranker_the_order_of_fusion_stands_and_the_zone_is_ok(tools: Tools, write: Write) -> None:
    write(_POSTS)
    query, config, tools = _query("rust on the chain"), Config(), replace(tools, reranker=_Down())
    recalled = recall(query, tools, config)
    reranked = rerank(query, recalled, tools, config)
    assert reranked.degraded == ("reranker",)
    assert [one.passage.post_id for one in reranked.candidates] == [one.passage.post_id for one in recalled.candidates]
    assert zone(aggregate(query, reranked, tools, config), config).zone is Zone.OK


def test_the_asking_post_is_no_evidence(tools: Tools, write: Write) -> None:
    write(_POSTS)
    query = replace(_query("rust on the chain"), question=Question(text="rust on the chain", post_id=2))
    assert all(one.passage.post_id != 2 for one in recall(query, tools, Config()).candidates)


def test_logits_without_thresholds_of_their_model_are_refused() -> None:
    passage = Passage(content_id="post:1:1", post_id=1, topic_id=1, title="t", text="x")
    evidence = Evidence(decision="", sources=(Candidate(passage=passage, logit=3.0),), model_id="unknown/model")
    with pytest.raises(ModelMismatch, match="eval calibrate"):
        zone(evidence, Config())


def test_what_only_the_topics_channel_found_counts_a_share(tools: Tools, write: Write) -> None:
    write(_POSTS)

    def scores(weight: float) -> dict[int, float]:
        config = Config.model_validate({"recall": {"channels": ["topics"], "topics_weight": weight}})
        found = recall(_query("What keeps my chain from rust in winter?"), tools, config).candidates
        return {one.passage.topic_id: one.rrf for one in found}

    whole, share = scores(1), scores(0.2)
    assert whole
    assert share == {topic: pytest.approx(0.2 * score) for topic, score in whole.items()}
