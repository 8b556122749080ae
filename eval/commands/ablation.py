"""`eval ablation`: every configuration of retrieval in one table, each compared with the defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from clients.composition import build_reranker
from clients.console import print_json
from clients.postgres.pool import Database
from eval.configurations import CONFIGURATIONS, DEFAULTS, Configuration, of_cross_encoder
from eval.cross_validated import cross_validated
from eval.fit import OF_LINKS
from eval.metrics import NAMES, of_ranking, paired_p, summary
from eval.question_set import QuestionSet, read_questions
from eval.ranking_rows import convex, first_ranks
from eval.references import official_plugin, okapi
from eval.remembering import RememberingEmbedder, RememberingIndex
from eval.results import provenance, save
from eval.runner import Found, Runner, progress, query_of
from eval.scratch import open_index
from eval.settings import config_with
from forum.ports import Reranker

Rows = dict[str, list[list[int]]]
_SHOWN = ("hit@1", "hit@5", "hit@25", "mrr@10")


def ablation(
    questions: Annotated[Path, typer.Option(help="Questions with relevant_topics.")],
    posts: Annotated[
        str | None, typer.Option(help="archive:PATH: a scratch index of it, built once. Default: the running index.")
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="Only posts and questions before this day (UTC)."),
    ] = None,
    cross_encoder: Annotated[
        str | None,
        typer.Option(help="A model for sentence-transformers: as reranker, and as a signal."),
    ] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE over config.yml; repeatable.")] = None,
    save_as: Annotated[str | None, typer.Option("--save", help="Keep the result as eval/results/NAME.json.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")] = False,
) -> None:
    """What each channel and flag is worth: one row a configuration, fused and reranked, with p against the defaults.

    `features` is fitted anew for each configuration, five folds by question, so that none is judged by a fit for
    another's candidates. The references beside them are rank-bm25 and the official plugin's way.

    Example: python -m eval ablation --questions q.jsonl --posts archive:posts/ --until 2020-01-01 --save slice-rows
    """
    asked = read_questions(questions)
    end = until.replace(tzinfo=UTC) if until else None
    if end:
        asked = asked.until(end)
    given = tuple(set_ or ())
    config = config_with(given)
    chosen = (*CONFIGURATIONS, *(of_cross_encoder(cross_encoder) if cross_encoder else ()))
    database, digest = open_index(posts, until=end, config=config)
    with database:
        rows = _rows(database, asked, given, chosen)
    table = _table(rows, asked)
    result: dict[str, Any] = {
        "n": len(asked.questions),
        "rows": table,
        "configurations": {one.name: {"says": one.says, "set": one.settings, "form": one.form} for one in chosen},
        "reranked_by": "a fit for each configuration, five folds by question",
        "until": end.date().isoformat() if end else None,
        **provenance(config, posts=digest, sets={"questions": asked}),
    }
    if save_as:
        save(save_as, {**result, "first_relevant": first_ranks(asked.questions, rows)})
    if json:
        print_json(result)
        return
    print(f"{result['n']} questions\n{'':34}" + "".join(f"{name:>8}" for name in _SHOWN) + f"{'p mrr@10':>10}")
    for name, row in table.items():
        print(f"{name:34}" + "".join(f"{row[one]:8.3f}" for one in _SHOWN) + f"{row['p']['mrr@10']:10.4f}")


def _rows(
    database: Database,
    asked: QuestionSet,
    given: tuple[str, ...],
    chosen: tuple[Configuration, ...],
) -> Rows:
    first = Runner.build(config_with(given), database)
    index, embedder = RememberingIndex(first.index), RememberingEmbedder(first.embedder)
    rerankers: dict[str, Reranker] = {}
    rows: Rows = {}
    defaults: list[Found] = []
    for one in chosen:
        config = config_with((*given, *one.settings))
        backend: str = config.reranker.backend
        if backend not in rerankers:
            rerankers[backend] = build_reranker(config.reranker)
        reranker = rerankers[backend]
        runner = replace(first, index=index, embedder=embedder, reranker=reranker, config=config, form=one.form)
        found = runner.run(asked.questions, one.name)
        defaults = defaults or found
        if backend != "features":
            rows[one.name] = _topics(found)
            continue
        rows[f"{one.name}, fused"] = [each.fused() for each in found]
        if config.flags.rerank:
            rows[f"{one.name}, reranked"] = _topics(cross_validated(found, depth=config.reranker.depth))
    rows[f"{DEFAULTS}, without links"] = _topics(cross_validated(defaults, without=OF_LINKS))
    rows[f"{DEFAULTS}, convex"] = [convex(one) for one in defaults]
    for backend, reranker in rerankers.items():
        if backend != "features":
            signal = [_logits(reranker, one) for one in progress(defaults, f"{backend}, every candidate")]
            rows[f"{DEFAULTS}, {backend} as one more signal"] = _topics(cross_validated(defaults, signal=signal))
    recall = first.config.recall
    rows["reference rank-bm25"] = okapi(database, asked.questions, recall.question_characters)
    rows["reference official plugin"] = official_plugin(
        database, embedder, asked.questions, limit=recall.limit, characters=recall.question_characters
    )
    return rows


def _logits(reranker: Reranker, found: Found) -> dict[int, float]:
    scores = reranker.score(query_of(found.asked).full, found.reranked)
    return {one.passage.post_id: score for one, score in zip(found.reranked, scores, strict=True)}


def _topics(found: Sequence[Found]) -> list[list[int]]:
    return [[one.passage.topic_id for one in each.reranked] for each in found]


def _table(rows: Rows, asked: QuestionSet) -> dict[str, dict[str, Any]]:
    """The metrics of each row, and by metric the p of its difference from the defaults' reranked row."""
    values = {
        name: [of_ranking(topics, one.grades) for one, topics in zip(asked.questions, ranked, strict=True)]
        for name, ranked in rows.items()
    }
    base = values[f"{DEFAULTS}, reranked"]
    return {
        name: {
            **summary(row),
            "p": {
                metric: round(paired_p(*(np.array([one[metric] for one in side]) for side in (row, base))), 4)
                for metric in NAMES
            },
        }
        for name, row in values.items()
    }
