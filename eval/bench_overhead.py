"""What the stages cost beside the model calls, question by question."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from bot.answer import answer
from bot.stages.aggregate import aggregate
from bot.stages.recall import recall
from bot.stages.rerank import rerank
from bot.stages.zone import zone
from bot.tools import Tools
from eval.question_set import Asked
from eval.remembering import RememberingEmbedder
from eval.runner import Runner, query_of
from forum.config import Config
from forum.types import Question


def bench_overhead(runner: Runner, questions: Sequence[Asked]) -> dict[str, Any]:
    """p50 and p95 in ms of recall and aggregate together; `stages` has each, with rerank and zone for comparison.

    `whole` is an answer from end to end without an LLM, stage by stage. The first pass embeds (a model's time, not
    ours) and warms the database's cache, the second is measured.
    """
    tools = Tools(index=runner.index, embedder=RememberingEmbedder(runner.embedder), reranker=runner.reranker)
    timings: dict[str, list[float]] = defaultdict(list)
    for measured in (False, True):
        for asked in questions:
            query = query_of(asked)
            marks = [time.perf_counter()]
            recalled = recall(query, tools, runner.config)
            marks.append(time.perf_counter())
            reranked = rerank(query, recalled, tools, runner.config)
            marks.append(time.perf_counter())
            evidence = aggregate(query, reranked, tools, runner.config)
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
        "whole": _whole(tools, questions, runner.config),
    }


def _whole(tools: Tools, questions: Sequence[Asked], config: Config) -> dict[str, Any]:
    """The whole pipeline, its own stages' times as the trace has them."""
    total: list[float] = []
    stages: dict[str, list[float]] = defaultdict(list)
    for measured in (False, True):
        for one in questions:
            question = Question(text=one.body or one.title, title=one.title if one.body else "", asked_at=one.asked_at)
            started = time.perf_counter()
            given = answer(question, tools, config)
            if measured:
                total.append((time.perf_counter() - started) * 1000)
                for name, ms in given.timings_ms.items():
                    stages[name].append(ms)
    return {
        **_percentiles(np.array(total)),
        "stages": {name: _percentiles(np.array(values)) for name, values in stages.items()},
    }


def _percentiles(values: Any) -> dict[str, float]:
    return {f"p{one}_ms": round(float(np.percentile(values, one)), 2) for one in (50, 95)}
