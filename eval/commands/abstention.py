"""`eval abstention`: does the bot keep silent where the forum has no answer, and only there?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from clients.console import print_json
from eval.abstention_numbers import abstention_numbers
from eval.question_set import QuestionSet, read_questions, sample
from eval.results import provenance, save
from eval.runner import Runner
from eval.scratch import open_index
from eval.settings import config_with
from eval.top_logits import top_logits
from forum.zones import BUILT_IN, thresholds_for


def abstention(
    answerable: Annotated[Path, typer.Option(help="Questions that the forum answers.")],
    unanswerable: Annotated[Path, typer.Option(help="Questions that it does not.")],
    posts: Annotated[
        str | None,
        typer.Option(help="archive:PATH: evaluate on a scratch index of it, built once. Default: the running index."),
    ] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE over config.yml; repeatable.")] = None,
    form: Annotated[str, typer.Option(help="What is asked: full (title and body) or title.")] = "full",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first questions of each file.")] = None,
    save_as: Annotated[str | None, typer.Option("--save", help="Keep the result as eval/results/NAME.json.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")] = False,
) -> None:
    """AUROC of the top logit, the share of unanswerable questions abstained on, the share of answerable ones lost.

    Questions that the coefficients were fitted on are scored by fits that never saw them.

    Example: python -m eval abstention --answerable q.jsonl --unanswerable u.jsonl --posts archive:posts/
    """
    config = config_with(set_ or ())
    yes_set, no_set = (_few(read_questions(path), limit) for path in (answerable, unanswerable))
    database, digest = open_index(posts, until=None, config=config)
    with database:
        runner = Runner.build(config, database, form=form)
        yes, no, how = top_logits(runner, yes_set, no_set)
    thresholds = thresholds_for(runner.reranker.model_id, (*config.reranker.zones, *BUILT_IN))
    result: dict[str, Any] = {
        "n": {"answerable": len(yes), "unanswerable": len(no)},
        **abstention_numbers(yes, no, thresholds),
        "kinds": _kinds(no_set, no, thresholds.abstain),
        "scored_by": how,
        "form": form,
        **provenance(config, posts=digest, sets={"answerable": yes_set, "unanswerable": no_set}),
    }
    if save_as:
        save(save_as, {**result, "logits": {"answerable": _round(yes), "unanswerable": _round(no)}})
    if json:
        print_json(result)
    else:
        print(
            f"AUROC {result['auroc']:.3f}; abstains on {result['recall']:.0%} of the unanswerable and on "
            f"{result['answerable_lost']:.0%} of the answerable ({result['scored_by']})"
        )


def _few(asked: QuestionSet, limit: int | None) -> QuestionSet:
    return replace(asked, questions=sample(asked.questions, limit))


def _kinds(asked: QuestionSet, logits: list[float], abstain: float) -> dict[str, float]:
    """The share abstained on, by the kind of question that the set names."""
    kinds = sorted({one.kind for one in asked.questions if one.kind})
    shares = {
        kind: [logit < abstain for one, logit in zip(asked.questions, logits, strict=True) if one.kind == kind]
        for kind in kinds
    }
    return {kind: round(sum(hits) / len(hits), 3) for kind, hits in shares.items()}


def _round(logits: list[float]) -> list[float]:
    return [round(one, 3) for one in logits]
