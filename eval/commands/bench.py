"""`eval bench ...`: how fast the parts are; one benchmark a command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clients.console import print_json
from eval.bench_ask import bench_ask
from eval.bench_backfill import bench_backfill
from eval.bench_gate import bench_gate
from eval.bench_mentions import bench_mentions
from eval.bench_pages import bench_pages
from eval.bench_sync import bench_sync
from eval.bench_webhook import bench_webhook
from eval.question_set import read_questions
from eval.results import machine, save
from eval.scratch import open_index
from eval.settings import config_with
from forum.config import EmbedderSection

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


@bench.command("mentions")
def mentions(
    count: Annotated[int, typer.Option(min=100, help="Mentions to answer.")] = 20_000, as_json: AsJson = False
) -> None:
    """Mentions from the webhook to the posted reply: whether memory, files and connections stay flat.

    Example: python -m eval bench mentions --count 20000 --json
    """
    result = bench_mentions(count=count)
    if as_json:
        print_json(result)
        return
    for name, value in result.items():
        print(f"{name:>12}  {value}")


@bench.command("sync")
def sync(
    rate: Annotated[int, typer.Option(min=1, help="Events a second.")] = 20,
    seconds: Annotated[int, typer.Option(min=1, help="For how long.")] = 60,
    posts: Annotated[Path, typer.Option(help="An archive that the index begins with.")] = Path(
        "../shared/data/imaging"
    ),
    rows: Annotated[int, typer.Option(min=0, help="So many posts of it.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Posts created, edited and destroyed at a steady rate: how long until the index shows it, web and worker running.

    Example: python -m eval bench sync --rate 20 --seconds 60 --json
    """
    result = bench_sync(rate=rate, seconds=seconds, posts=posts, rows=rows)
    if as_json:
        print_json(result)
        return
    for name, value in result.items():
        print(f"{name:>18}  {value}")


@bench.command("backfill")
def backfill(
    posts: Annotated[Path, typer.Option(help="An archive of posts.")] = Path("../shared/data/imaging"),
    rows: Annotated[int, typer.Option(min=100, help="Posts for the pipeline without an embedder.")] = 20_000,
    embedder: Annotated[str, typer.Option(help="Backend for the overhead: a transformer, as in production.")] = (
        "sentence-transformers"
    ),
    embedded_rows: Annotated[int, typer.Option(min=10, help="Posts for the overhead.")] = 500,
    as_json: AsJson = False,
) -> None:
    """The pipeline alone, a second run over unchanged posts, and the share of all but the embedder.

    Example: python -m eval bench backfill --rows 90000 --json
    """
    section = EmbedderSection.model_validate({"backend": embedder})
    result = bench_backfill(posts, rows=rows, embedder=section, embedded_rows=embedded_rows)
    if as_json:
        print_json(result)
        return
    for name, value in result.items():
        print(f"{name:>24}  {value}")


@bench.command("gate")
def gate(
    posts: Annotated[Path, typer.Option(help="An archive for the harmless texts.")] = Path("../shared/data/protocol"),
    save_as: Annotated[str | None, typer.Option("--save", help="Keep the result as eval/results/NAME.json.")] = None,
    as_json: AsJson = False,
) -> None:
    """The input gate on messages of 10,000 characters of several kinds, and on hostile megabytes: CPU in ms.

    Example: python -m eval bench gate --json
    """
    result = {**bench_gate(posts), **machine()}
    if save_as:
        save(save_as, result)
    if as_json:
        print_json(result)
        return
    for name, value in result.items():
        print(f"{name:>16}  {value}")


@bench.command("pages")
def pages(
    answers: Annotated[int, typer.Option(min=1000, help="Stored answers, made up.")] = 100_000, as_json: AsJson = False
) -> None:
    """Each admin page over many stored answers: its time and size.

    Example: python -m eval bench pages --answers 100000 --json
    """
    result = bench_pages(answers=answers)
    if as_json:
        print_json(result)
        return
    for page, times in result["pages"].items():
        print(f"{page:>24}  p50 {times['p50_ms']:>7} ms  p95 {times['p95_ms']:>7} ms  {times['kilobytes']:>7} kB")
    print(f"{'slowest p95':>24}  {result['worst_p95_ms']} ms")
