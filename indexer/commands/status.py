"""`indexer status`: what the index holds and how the backfills stand."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from clients.composition import open_database
from clients.console import print_json
from indexer.status import status as read_status


def status(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")] = False,
) -> None:
    """Show posts seen and indexed, what was skipped and why, the model, the lag, and every backfill.

    "Lag" is the time since the index last took something in.
    """
    with open_database() as database:
        value = read_status(database)
    if json:
        print_json(value)
    else:
        _show(value)


def _show(value: dict[str, Any]) -> None:
    posts = value["posts"]
    console = Console()
    console.print(
        f"{posts['indexed']} posts of {posts['topics']} topics indexed, {posts['seen']} known,"
        f" {posts['deleted']} deleted; model {value['model']} ({value['dimensions']} dimensions,"
        f" {value['vectors']} vectors, index: {value['index']});"
        f" {value['set_aside']} set aside, {value['truncated']} cut to the model's limit."
    )
    for reason, count in sorted(value["skipped"].items()):
        console.print(f"  skipped {count}: {reason}")
    if not value["backfills"]:
        console.print("Nothing was indexed yet: python -m indexer backfill archive:PATH")
        return
    table = Table("source", "state", "seen", "of", "indexed", "unchanged", "posts/s", "left")
    for run in value["backfills"]:
        left = "" if run["eta_s"] is None else f"{run['eta_s']:.0f} s"
        table.add_row(
            run["source"],
            run["state"],
            str(run["seen"]),
            str(run["total"] or ""),
            str(run["indexed"]),
            str(run["unchanged"]),
            f"{run['rate']:.0f}",
            left,
        )
    console.print(table)
