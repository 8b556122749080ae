"""`eval fit-features`: fits the coefficients of the features reranker for the configured embedder."""

from __future__ import annotations

import json as json_module
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from clients.console import print_json
from clients.features_reranker import COEFFICIENTS, WITHOUT_VECTORS, Fit, read_content, read_fits
from clients.postgres.pool import Database
from eval.abstention_numbers import abstention_numbers
from eval.both_forms import FORMS, both_forms
from eval.fit import OF_VECTORS, Forum, fit_all
from eval.question_set import QuestionSet, read_questions
from eval.ranking_rows import rankings, table
from eval.results import provenance, save
from eval.runner import Runner
from eval.scratch import open_index
from eval.settings import config_with
from eval.unseen import levels
from forum.config import Config
from forum.errors import UsageError
from forum.zones import BUILT_IN, thresholds_for


def fit_features(
    questions: Annotated[Path, typer.Option(help="Questions with relevant_topics.")],
    unanswerable: Annotated[Path, typer.Option(help="Questions that the forum cannot answer.")],
    posts: Annotated[str, typer.Option(help="archive:PATH that the questions were asked in.")],
    out: Annotated[Path, typer.Option(help="The coefficients; other embedders' models in it stay.")] = COEFFICIENTS,
    until: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="Only posts and questions before this day (UTC)."),
    ] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE over config.yml; repeatable.")] = None,
    also: Annotated[
        Path | None, typer.Option(help="Questions of the running index, fitted along: each forum counts the same.")
    ] = None,
    also_unanswerable: Annotated[Path | None, typer.Option(help="Those that the running index cannot answer.")] = None,
    vectors_only: Annotated[
        bool, typer.Option("--vectors-only", help="Leave the model for questions without vectors as it stands.")
    ] = False,
    save_as: Annotated[str | None, typer.Option("--save", help="Keep the report as eval/results/NAME.json.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")] = False,
) -> None:
    """Fit on all questions; the report is by fits that left each question out (5 folds).

    Two models are written: one for the configured embedder, and one for questions without vectors (the embedder is
    down, or nothing was fitted for it). Each names the posts, the questions, the date and the commit of its fit.

    Example: python -m eval fit-features --questions q.jsonl --unanswerable u.jsonl --posts archive:posts/
    """
    config = config_with(set_ or ())
    if (also is None) != (also_unanswerable is None):
        raise UsageError("--also and --also-unanswerable: give both or none.")
    sets = {"answerable": read_questions(questions), "unanswerable": read_questions(unanswerable)}
    end = until.replace(tzinfo=UTC) if until else None
    if end:
        sets["answerable"] = sets["answerable"].until(end)
    database, digest = open_index(posts, until=end, config=config)
    forums = [_found(database, config, *sets.values(), words=not vectors_only)]
    if also and also_unanswerable:
        sets |= {"also": read_questions(also), "also_unanswerable": read_questions(also_unanswerable)}
        here, _ = open_index(None, until=None, config=config)
        forums.append(_found(here, config, sets["also"], sets["also_unanswerable"], words=not vectors_only))
    models = read_content(out)["models"] if out.exists() else {}
    made = provenance(config, posts=digest, sets=sets)
    made["until"] = end.date().isoformat() if end else None
    for name in forums[0]:
        of = {key: value for key, value in made.items() if key != "config"}
        missing = OF_VECTORS if name == WITHOUT_VECTORS else frozenset[str]()
        models[name] = {"made": of, **fit_all([forum[name] for forum in forums], without=missing)}
    content = {"made_by": "python -m eval fit-features", "models": models}
    out.write_text(json_module.dumps(content, indent=1) + "\n", encoding="utf-8")
    read_fits.cache_clear()
    fits = read_fits(out)
    report: dict[str, Any] = {
        name or "without vectors": {
            place: _report(forum[name], fits[name]) for place, forum in zip(("archive", "also"), forums, strict=False)
        }
        for name in forums[0]
    }
    if save_as:
        save(save_as, {**report, **made})
    if json:
        print_json({"written": str(out), **report})
    else:
        print(json_module.dumps(report, indent=1))


def _found(
    database: Database, config: Config, asked: QuestionSet, absent: QuestionSet, *, words: bool
) -> dict[str, Forum]:
    """What is found for both sets by the configured embedder's name, and with `words` by the keyword channel alone."""
    unranked = config.model_copy(update={"flags": config.flags.model_copy(update={"rerank": False})})
    by_words = unranked.model_copy(update={"recall": config.recall.model_copy(update={"channels": ("keyword",)})})
    with database:
        runner = Runner.build(unranked, database)
        runners = {runner.embedder.model.name: runner}
        if words:
            runners[WITHOUT_VECTORS] = Runner.build(by_words, database)
        return {
            name: Forum(answerable=both_forms(one, asked), unanswerable=both_forms(one, absent))
            for name, one in runners.items()
        }


def _report(forum: Forum, fit: Fit) -> dict[str, Any]:
    """By fits that did not see the question."""
    thresholds = thresholds_for("features", BUILT_IN)
    yes, no = forum.answerable, forum.unanswerable
    rows, how = rankings(yes[0], fit)
    return {
        "n": {"answerable": len(yes[0]), "unanswerable": len(no[0])},
        **table(yes[0], rows),
        "reranked_by": how,
        "abstention": {
            form: abstention_numbers(levels(yes[at], fit), levels(no[at], fit), thresholds)
            for at, form in enumerate(FORMS)
        },
    }
