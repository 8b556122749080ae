"""What recall, fusion and aggregation cost beside the model calls, question by question."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from bot.stages.aggregate import aggregate
from bot.stages.recall import recall
from bot.stages.rerank import rerank
from bot.stages.zone import zone
from bot.tools import Tools
from eval.question_set import Asked
from eval.runner import Runner, query_of
from forum.ports import Embedder, Vectors


class _Remembered:
    """The embedder, asked beforehand: its time is a model's, not ours."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}
        self.model = embedder.model

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embedder.embed_passages(texts)

    def embed_query(self, text: str) -> Vectors:
        if text not in self._known:
            self._known[text] = self._embedder.embed_query(text)
        return self._known[text]


def bench_overhead(runner: Runner, questions: Sequence[Asked]) -> dict[str, Any]:
    """p50 and p95 in ms of recall and aggregate together; `stages` has each, with rerank and zone for comparison.

    The first pass embeds and warms the database's cache, the second is measured.
    """
    tools = Tools(index=runner.index, embedder=_Remembered(runner.embedder), reranker=runner.reranker)
    timings: dict[str, list[float]] = defaultdict(list)
    for measured in (False, True):
        for asked in questions:
            query = query_of(asked)
            marks = [time.perf_counter()]
            recalled = recall(query, tools, runner.config)
            marks.append(time.perf_counter())
            reranked = rerank(query, recalled, tools, runner.config)
            marks.append(time.perf_counter())
            evidence = aggregate(reranked, runner.config)
            marks.append(time.perf_counter())
            zone(evidence, runner.config)
            marks.append(time.perf_counter())
            if measured:
                for name, ms in zip(("recall", "rerank", "aggregate", "zone"), np.diff(marks) * 1000, strict=True):
                    timings[name].append(float(ms))
    ours = np.array(timings["recall"]) + np.array(timings["aggregate"])
    return {
        "rows": runner.index.size(),
        "n": len(questions),
        **_percentiles(ours),
        "stages": {name: _percentiles(np.array(values)) for name, values in timings.items()},
    }


def _percentiles(values: Any) -> dict[str, float]:
    return {f"p{one}_ms": round(float(np.percentile(values, one)), 2) for one in (50, 95)}
