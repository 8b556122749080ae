"""`eval new-topics`: the threshold from which on pointing to older topics is right often enough."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from clients.console import print_json
from eval.new_topics import precision_and_coverage, ranked, smallest_threshold
from eval.question_set import read_questions, sample
from eval.results import provenance, save
from eval.runner import Runner
from eval.scratch import open_index
from eval.settings import config_with


def new_topics(
    questions: Annotated[Path, typer.Option(help="Topics to which somebody then linked an older one.")],
    posts: Annotated[
        str | None, typer.Option(help="archive:PATH: a scratch index of it. Default: the running index.")
    ] = None,
    until: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Only posts and questions before this day.")
    ] = None,
    precision: Annotated[float, typer.Option(min=0, max=1, help="The precision to choose a threshold for.")] = 0.6,
    set_: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE over config.yml; repeatable.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many questions.")] = None,
    save_as: Annotated[str | None, typer.Option("--save", help="Keep the result as eval/results/NAME.json.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")] = False,
) -> None:
    """Precision against coverage over thresholds, and the smallest threshold for the wanted precision.

    Right is a link that a person gave, so the precision is a lower bound: another thread may answer too.

    Example: python -m eval new-topics --questions q.jsonl --posts archive:posts/
    """
    config = config_with(set_ or ())
    end = until.replace(tzinfo=UTC) if until else None
    asked = read_questions(questions)
    if end:
        asked = asked.until(end)
    database, digest = open_index(posts, until=end, config=config)
    with database:
        runner = Runner.build(config, database)
        found = runner.run(sample(asked.questions, limit), asked.name)
        scored, how = ranked(runner, found)
    tops = sorted({round(one.candidates[0].logit or 0.0, 1) for one in scored if one.candidates})
    rows = [precision_and_coverage(scored, config, threshold) for threshold in tops]
    result: dict[str, Any] = {
        "n": len(found),
        "until": end.date().isoformat() if end else None,
        "model": runner.reranker.model_id,
        "wanted": precision,
        "threshold": smallest_threshold(rows, precision),
        "curve": rows,
        "scored_by": how,
        **provenance(config, posts=digest, sets={"questions": asked}),
    }
    if save_as:
        save(save_as, result)
    if json:
        print_json(result)
        return
    print("threshold  coverage  precision  links right  replies")
    for row in rows[:: max(1, len(rows) // 20)]:
        shares = [
            f"{row[name]:.3f}" if row[name] is not None else "-" for name in ("coverage", "precision", "links_right")
        ]
        print(f"{row['threshold']:9.2f}  {shares[0]:>8}  {shares[1]:>9}  {shares[2]:>11}  {row['replies']:7}")
    print(f"new_topics.threshold for a precision of {precision:.0%}: {result['threshold']} ({how})")
