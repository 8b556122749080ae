"""`eval bench ...`: how fast the parts are; one benchmark a command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clients.console import print_json
from eval.bench_ask import bench_ask
from eval.bench_webhook import bench_webhook
from eval.question_set import read_questions
from eval.scratch import open_index
from eval.settings import config_with

bench = typer.Typer(help="How fast the parts are.", no_args_is_help=True, rich_markup_mode=None)

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object.")]


@bench.command("webhook")
def webhook(
    rate: Annotated[int, typer.Option(min=1, help="Deliveries a second.")] = 200,
    seconds: Annotated[int, typer.Option(min=1, help="For how long.")] = 60,
    as_json: AsJson = False,
) -> None:
    """Signed deliveries at a steady rate: the time to the 202, what is lost, what is doubled.

    Example: python -m eval bench webhook --seconds 60 --json
    """
    result = bench_webhook(rate=rate, seconds=seconds)
    if as_json:
        print_json(result)
        return
    for name, value in result.items():
        print(f"{name:>10}  {value}")


@bench.command("ask")
def ask(
    questions: Annotated[str, typer.Option(help="A file of questions.")] = "eval/questions/practice.jsonl",
    posts: Annotated[str | None, typer.Option(help="archive:PATH for a scratch index; else the running one.")] = None,
    rate: Annotated[int, typer.Option(min=1, help="Questions a second.")] = 20,
    seconds: Annotated[int, typer.Option(min=1, help="For how long.")] = 30,
    as_json: AsJson = False,
) -> None:
    """POST /ask at a steady rate: what a request costs beside the stages of its answer.

    Example: python -m eval bench ask --rate 20 --json
    """
    config = config_with([])
    database, _ = open_index(posts, until=None, config=config)
    with database:
        result = bench_ask(database, read_questions(Path(questions)).questions, config, rate=rate, seconds=seconds)
    if as_json:
        print_json(result)
        return
    for name, value in result.items():
        print(f"{name:>16}  {value}")
