"""The ablation on a forum of twelve posts: which rows there are, and what each is compared with."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from io import StringIO
from typing import Any, cast

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs the `eval` extra")
pytest.importorskip("rank_bm25", reason="needs the `eval` extra")

from clients.composition import build_reranker
from eval.commands import ablation as command
from eval.configurations import CONFIGURATIONS, DEFAULTS
from eval.runner import Runner
from forum.ports import Embedder, EmbeddingModel, Index
from forum.types import Hit, Match, Passage, Scope

_TOPICS = range(1, 13)
_QUESTIONS = 40


class _Embedder:
    """Vectors that tell nothing: each topic's place by chance."""

    model = EmbeddingModel(name="made up", dimensions=len(_TOPICS), max_tokens=100)

    def embed_query(self, text: str) -> Any:
        return np.random.default_rng(zlib.crc32(text.encode())).random(len(_TOPICS)).astype(np.float32)


class _Index:
    """Keywords that tell everything: a question's last word is the number of the topic that answers it."""

    def nearest(self, vector: Any, *, limit: int, scope: Scope) -> list[Hit]:
        return self._hits(dict(zip(_TOPICS, vector.tolist(), strict=True)), limit)

    def nearest_topics(self, vector: Any, *, limit: int, scope: Scope) -> list[Hit]:
        return self.nearest(vector, limit=limit, scope=scope)

    def keyword(self, text: str, *, limit: int, scope: Scope) -> list[Hit]:
        right = int(text.split()[-1])
        return self._hits({topic: 1.0 / (1 + abs(topic - right)) for topic in _TOPICS}, limit)

    def _hits(self, scores: Mapping[int, float], limit: int) -> list[Hit]:
        best = sorted(scores, key=lambda topic: -scores[topic])[:limit]
        return [Hit(post_id=topic, topic_id=topic, score=scores[topic]) for topic in best]

    def passages(self, post_ids: Sequence[int], *, scope: Scope) -> dict[int, Passage]:
        return {
            one: Passage(content_id=f"post:{one}:1", post_id=one, topic_id=one, title="", text="") for one in post_ids
        }

    def matches(self, post_ids: Sequence[int], *, text: str, vector: Any, scope: Scope) -> dict[int, Match]:
        return dict.fromkeys(post_ids, Match())

    def size(self) -> int:
        return len(_TOPICS)


def _build(config: Any, database: Any) -> Runner:
    index, embedder = cast("Index", _Index()), cast("Embedder", _Embedder())
    return Runner(index=index, embedder=embedder, reranker=build_reranker(config.reranker), config=config)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the command saves; on stdout it says the same without the ranks."""
    folder = tmp_path_factory.mktemp("ablation")
    questions = folder / "q.jsonl"
    topics = [at % len(_TOPICS) + 1 for at in range(_QUESTIONS)]
    lines = [{"id": f"q{at}", "title": f"number {one}", "relevant_topics": [one]} for at, one in enumerate(topics)]
    questions.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    chosen = tuple(one for one in CONFIGURATIONS if one.name in (DEFAULTS, "A", "keyword"))
    saved: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(StringIO()) as printed:
        patched.delenv("THREADCITE_CONFIG", raising=False)
        patched.chdir(folder)
        patched.setattr(command, "CONFIGURATIONS", chosen)
        patched.setattr(command, "open_index", lambda *_, **__: (nullcontext(), "made up"))
        patched.setattr(Runner, "build", _build)
        patched.setattr(command, "okapi", lambda _, asked, __: [sorted(one.relevant_topics) for one in asked])
        patched.setattr(command, "official_plugin", lambda _, __, asked, **___: [[] for _ in asked])
        patched.setattr(command, "save", lambda _, content: saved.update(content))
        command.ablation(
            questions=questions, posts=None, until=None, cross_encoder=None, set_=None, save_as="x", json=True
        )
    assert json.loads(printed.getvalue())["rows"] == saved["rows"]
    return saved


def test_each_configuration_has_its_rows_and_the_references_stand_beside_them(result: dict[str, Any]) -> None:
    assert list(result["rows"]) == [
        "defaults, fused",
        "defaults, reranked",
        "A, fused",
        "keyword, fused",
        "keyword, reranked",
        "defaults, without links",
        "defaults, convex",
        "reference rank-bm25",
        "reference official plugin",
    ]
    assert list(result["configurations"]) == ["defaults", "A", "keyword"]
    assert result["configurations"]["A"]["set"][0] == "recall.channels=[posts]"


def test_a_row_says_what_its_channels_find(result: dict[str, Any]) -> None:
    found = {name: row["hit@1"] for name, row in result["rows"].items()}
    assert found["keyword, fused"] == 1.0
    assert found["A, fused"] < 0.4
    assert found["defaults, reranked"] == 1.0
    assert (found["reference rank-bm25"], found["reference official plugin"]) == (1.0, 0.0)


def test_p_is_against_the_defaults_reranked(result: dict[str, Any]) -> None:
    p = {name: row["p"]["hit@1"] for name, row in result["rows"].items()}
    assert p["defaults, reranked"] == 1.0
    assert p["keyword, fused"] == 1.0
    assert p["A, fused"] < 0.001


def test_every_question_has_a_rank_in_every_row(result: dict[str, Any]) -> None:
    ranks = result["first_relevant"]
    assert ranks.keys() == result["rows"].keys()
    assert all(row.keys() == {f"q{at}" for at in range(_QUESTIONS)} for row in ranks.values())
    assert set(ranks["reference official plugin"].values()) == {None}
    assert set(ranks["keyword, fused"].values()) == {1}
