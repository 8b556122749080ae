"""`eval bench recall|keyword|overhead`: the channels and what the stages cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from clients.console import print_json
from eval.bench_keyword import bench_keyword
from eval.bench_overhead import bench_overhead
from eval.bench_recall import bench_recall
from eval.commands.bench import bench
from eval.question_set import read_questions, sample
from eval.results import machine, provenance, save
from eval.runner import Runner
from eval.scratch import open_index
from eval.settings import config_with

__all__ = ["bench"]

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")]


#: The sizes of the growth curve in docs/scale.md.
GROWTH = (50_000, 100_000, 200_000, 425_000)
Rows = Annotated[int, typer.Option(min=100, max=5_000_000, help="Made-up posts in the index.")]
Growth = Annotated[bool, typer.Option("--growth", help="One run each at 50,000, 100,000, 200,000 and 425,000 posts.")]
Save = Annotated[str | None, typer.Option("--save", help="Keep the result as eval/results/NAME.json.")]


@bench.command("recall")
def recall(
    rows: Rows = 50_000,
    dimensions: Annotated[int, typer.Option(min=2, max=4000, help="From 512 on, a bit index.")] = 1024,
    growth: Growth = False,
    save_as: Save = None,
    json: AsJson = False,
) -> None:
    """Recall@25 of the vector index against an exact scan, its speed, and both under filters.

    Example: python -m eval bench recall --rows 50000 --json
    """
    _each(lambda size: bench_recall(rows=size, dimensions=dimensions), rows, growth, save_as, json)


@bench.command("keyword")
def keyword(
    rows: Rows = 50_000,
    posts: Annotated[Path, typer.Option(help="An archive for the texts; where it is absent, words by Zipf's law.")] = (
        Path("../shared/data/imaging")
    ),
    growth: Growth = False,
    save_as: Save = None,
    json: AsJson = False,
) -> None:
    """The keyword channel's speed, and its overlap with rank-bm25's ten best.

    Example: python -m eval bench keyword --rows 50000 --json
    """
    archive = posts if posts.exists() else None
    _each(lambda size: bench_keyword(rows=size, posts=archive), rows, growth, save_as, json)


@bench.command("overhead")
def overhead(
    questions: Annotated[Path, typer.Option(help="A file of questions.")] = Path("eval/questions/practice.jsonl"),
    posts: Annotated[str | None, typer.Option(help="archive:PATH for a scratch index; else the running one.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Only the first questions.")] = 200,
    save_as: Annotated[str | None, typer.Option("--save", help="Keep the result as eval/results/NAME.json.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE over config.yml; repeatable.")] = None,
    json: AsJson = False,
) -> None:
    """What recall, fusion and aggregation cost beside the model calls.

    Example: python -m eval bench overhead --questions q.jsonl --posts archive:posts/
    """
    config = config_with(set_ or ())
    asked = read_questions(questions)
    asked = replace(asked, questions=sample(asked.questions, limit))
    database, digest = open_index(posts, until=None, config=config)
    with database:
        result = bench_overhead(Runner.build(config, database), asked.questions)
    if save_as:
        save(save_as, {**result, **machine(), **provenance(config, posts=digest, sets={"questions": asked})})
    _tell(result, json)


def _each(run: Callable[[int], dict[str, Any]], rows: int, growth: bool, save_as: str | None, as_json: bool) -> None:
    result = {"growth": [run(size) for size in GROWTH]} if growth else run(rows)
    if save_as:
        save(save_as, {**result, **machine()})
    _tell(result, as_json)


def _tell(result: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(result)
        return
    for name, value in result.items():
        print(f"{name:>14}  {value}")
