"""`eval bench ...`: how fast the parts are; one benchmark a command."""

from __future__ import annotations

from typing import Annotated

import typer

from clients.console import print_json
from eval.bench_webhook import bench_webhook

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
