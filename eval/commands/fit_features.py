"""`eval fit-features`: fits the coefficients of the features reranker for the configured embedder."""

from __future__ import annotations

import json as json_module
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from clients.console import print_json
from clients.features_reranker import COEFFICIENTS, WITHOUT_VECTORS, Fit, read_content, read_fits
from eval.abstention_numbers import abstention_numbers
from eval.both_forms import FORMS, both_forms
from eval.fit import OF_VECTORS, Groups, fit_all
from eval.metrics import of_ranking, summary
from eval.question_set import read_questions
from eval.results import provenance
from eval.runner import Found, Runner
from eval.scratch import open_index
from eval.settings import config_with
from eval.unseen import by_order, levels
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
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")] = False,
) -> None:
    """Fit on all questions; the report is by fits that left each question out (5 folds).

    Two models are written: one for the configured embedder, and one for questions without vectors (the embedder is
    down, or nothing was fitted for it).

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
        found = both_forms(runner, asked), both_forms(runner, absent)
        found_by_words = both_forms(by_words, asked), both_forms(by_words, absent)
    content = read_content(out) if out.exists() else {"models": {}}
    for name, (yes, no), missing in (
        (runner.embedder.model.name, found, frozenset[str]()),
        (WITHOUT_VECTORS, found_by_words, OF_VECTORS),
    ):
        content["models"][name] = fit_all(yes, no, without=missing)
    made = provenance(config, posts=digest, sets={"answerable": asked, "unanswerable": absent})
    made.pop("config")
    content = {"made_by": "python -m eval fit-features", **made, "models": content["models"]}
    out.write_text(json_module.dumps(content, indent=1) + "\n", encoding="utf-8")
    read_fits.cache_clear()
    fits = read_fits(out)
    report = {
        name or "without vectors": _report(yes, no, fits[name])
        for name, (yes, no) in ((runner.embedder.model.name, found), (WITHOUT_VECTORS, found_by_words))
    }
    if json:
        print_json({"written": str(out), **report})
    else:
        print(json_module.dumps(report, indent=1))


def _report(yes: Groups, no: Groups, fit: Fit) -> dict[str, Any]:
    """By fits that did not see the question."""
    thresholds = thresholds_for("features", BUILT_IN)
    return {
        "reranked": _metrics(by_order(yes[0], fit)),
        "reranked_without_links": _metrics(by_order(yes[0], fit, links=False)),
        "abstention": {
            form: abstention_numbers(levels(yes[at], fit), levels(no[at], fit), thresholds)
            for at, form in enumerate(FORMS)
        },
    }


def _metrics(found: Sequence[Found]) -> dict[str, object]:
    return summary([of_ranking([one.passage.topic_id for one in each.reranked], each.asked.grades) for each in found])
