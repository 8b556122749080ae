"""`eval retrieval`: how high each channel, their fusion and the reranker put the topics that an expert linked."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from clients.console import print_json
from clients.postgres.index import PostgresIndex
from eval.fit_of import fit_of
from eval.metrics import NAMES
from eval.question_set import read_questions, sample
from eval.ranking_rows import first_ranks, rankings, scores_by_relevance, table
from eval.results import provenance, save
from eval.runner import FORMS, Found, Runner
from eval.scratch import open_index
from eval.settings import config_with
from eval.unseen import by_order
from forum.errors import UsageError


def retrieval(
    questions: Annotated[
        Path, typer.Option(help="JSON Lines: {id, topic_id, asked_at, title, body, relevant_topics}.")
    ],
    posts: Annotated[
        str | None,
        typer.Option(help="archive:PATH: evaluate on a scratch index of it, built once. Default: the running index."),
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="Only posts and questions before this day (UTC)."),
    ] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE over config.yml; repeatable.")] = None,
    form: Annotated[str, typer.Option(help="What is asked: full (title and body), title or condensed.")] = "full",
    strict: Annotated[
        bool,
        typer.Option(help="Also hide later posts of older topics; without it a topic counts whole if it is older."),
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first questions.")] = None,
    save_as: Annotated[str | None, typer.Option("--save", help="Keep the result as eval/results/NAME.json.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")] = False,
) -> None:
    """Hit@1/5/25, MRR@10 and nDCG@10 with 95 % bootstrap intervals, for each channel, RRF and the reranker.

    A candidate is a topic that is older than the question and not the question's own; its best post stands for it.
    Signals (links, size, age, likes, acceptance) end at the question's time.

    Example: python -m eval retrieval --questions q.jsonl --posts archive:posts/ --until 2020-01-01
    """
    if form not in FORMS:
        raise UsageError(f"--form {form!r:.20}: {', '.join(FORMS)}.")
    config = config_with(set_ or ())
    asked = read_questions(questions)
    end = until.replace(tzinfo=UTC) if until else None
    if end:
        asked = asked.until(end)
    asked = replace(asked, questions=sample(asked.questions, limit))
    database, digest = open_index(posts, until=end, config=config)
    with database:
        runner = Runner.build(config, database, whole_topics=not strict, form=form)
        found = runner.run(asked.questions, "asking")
    fit = fit_of(runner) if config.flags.rerank else None
    rows, how = rankings(found, fit)
    result: dict[str, Any] = {
        "n": len(found),
        **table(found, rows),
        "reranked_by": how,
        "until": end.date().isoformat() if end else None,
        "form": form,
        "strict": strict,
        "degraded": sorted({name for one in found for name in one.degraded}),
        "exact_scans": runner.index.fallbacks if isinstance(runner.index, PostgresIndex) else 0,
        "ms": _latency(found),
        **provenance(config, posts=digest, sets={"questions": asked}),
    }
    if save_as:
        scores = scores_by_relevance(by_order(found, fit) if fit else found)
        save(save_as, {**result, "scores": scores, "first_relevant": first_ranks(asked.questions, rows)})
    if json:
        print_json(result)
    else:
        _print(result, list(rows))


def _latency(found: list[Found]) -> dict[str, float]:
    recall = np.array([one.recall_ms for one in found])
    rerank = np.array([one.rerank_ms for one in found])
    return {
        f"{name}_{label}": round(float(np.percentile(values, percent)), 1)
        for name, values in (("recall", recall), ("rerank", rerank))
        for label, percent in (("p50", 50), ("p95", 95))
    }


def _print(result: dict[str, Any], rows: list[str]) -> None:
    print(f"{result['n']} questions; reranked: {result['reranked_by']}")
    print(f"{'':24}" + "".join(f"{name:>22}" for name in NAMES))
    for row in rows:
        cells = (
            f"{result[row][name]:.3f} [{low:.2f}, {high:.2f}]"
            for name in NAMES
            for low, high in (result[row][f"{name}_ci"],)
        )
        print(f"{row:24}" + "".join(f"{cell:>22}" for cell in cells))
