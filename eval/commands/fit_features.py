"""`eval fit-features`: fits the coefficients of the features reranker for the configured embedder."""

from __future__ import annotations

import json as json_module
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from clients.console import print_json
from clients.features_reranker import COEFFICIENTS, WITHOUT_VECTORS, Fit, read_content, read_fits
from eval.abstention_numbers import abstention_numbers
from eval.both_forms import FORMS, both_forms
from eval.fit import OF_VECTORS, Groups, fit_all
from eval.question_set import read_questions
from eval.ranking_rows import rankings, table
from eval.results import provenance, save
from eval.runner import Runner
from eval.scratch import open_index
from eval.settings import config_with
from eval.unseen import levels
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
    asked, absent = read_questions(questions), read_questions(unanswerable)
    end = until.replace(tzinfo=UTC) if until else None
    if end:
        asked = asked.until(end)
    unranked = config.model_copy(update={"flags": config.flags.model_copy(update={"rerank": False})})
    words = unranked.model_copy(update={"recall": config.recall.model_copy(update={"channels": ("keyword",)})})
    database, digest = open_index(posts, until=end, config=config)
    with database:
        runner = Runner.build(unranked, database)
        by_words = Runner.build(words, database)
        groups = [(runner.embedder.model.name, both_forms(runner, asked), both_forms(runner, absent), frozenset[str]())]
        if not vectors_only:
            groups.append((WITHOUT_VECTORS, both_forms(by_words, asked), both_forms(by_words, absent), OF_VECTORS))
    models = read_content(out)["models"] if out.exists() else {}
    made = provenance(config, posts=digest, sets={"answerable": asked, "unanswerable": absent})
    made["until"] = end.date().isoformat() if end else None
    for name, yes, no, missing in groups:
        of = {key: value for key, value in made.items() if key != "config"}
        models[name] = {"made": of, **fit_all(yes, no, without=missing)}
    content = {"made_by": "python -m eval fit-features", "models": models}
    out.write_text(json_module.dumps(content, indent=1) + "\n", encoding="utf-8")
    read_fits.cache_clear()
    fits = read_fits(out)
    report = {name or "without vectors": _report(yes, no, fits[name]) for name, yes, no, _ in groups}
    if save_as:
        save(save_as, {**report, **made})
    if json:
        print_json({"written": str(out), **report})
    else:
        print(json_module.dumps(report, indent=1))


def _report(yes: Groups, no: Groups, fit: Fit) -> dict[str, Any]:
    """By fits that did not see the question."""
    thresholds = thresholds_for("features", BUILT_IN)
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
