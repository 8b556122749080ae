"""`bot explain ID`: how an answer came about, stage by stage."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.graph import calls, path_mermaid, path_text
from clients.composition import open_database
from clients.console import print_json
from clients.postgres.traces import load_trace
from forum.errors import UsageError


def explain(
    trace_id: Annotated[str, typer.Argument(metavar="ID", help="A trace id, or the id of an asking post.")],
    as_json: Annotated[bool, typer.Option("--json", help="The stored trace as one JSON object.")] = False,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Only its path, as a Mermaid flowchart.")] = False,
) -> None:
    """Print the path through the stages, each one's decision, reason, time and calls, and the sources' scores."""
    with open_database() as database:
        trace = load_trace(database, trace_id)
    if trace is None:
        raise UsageError(
            f"ID: no trace {trace_id}. `bot ask` prints the id; traces are kept for retention.traces_days."
        )
    if as_json:
        print_json(trace)
        return
    if mermaid:
        print(path_mermaid(trace))
        return
    console = Console(highlight=False)
    console.print(Text(path_text(trace)))
    console.print(_stages(trace))
    console.print(_sources(trace))
    console.print(Text(str(trace.get("answer", ""))))


def _stages(trace: dict[str, Any]) -> Table:
    table = Table("stage", "decision", "reason", "ms", "calls", title=f"zone {trace['zone']}, route {trace['route']}")
    for stage in trace.get("stages", []):
        told = (str(stage[key]) for key in ("stage", "decision", "reason", "ms"))
        table.add_row(*map(Text, (*told, "\n".join(calls(stage)))))
    return table


def _sources(trace: dict[str, Any]) -> Table:
    channels = sorted({channel for source in trace.get("sources", []) for channel in source["ranks"]})
    table = Table("n", "topic/post", "title", *channels, "rrf", "logit", title="sources")
    for source in trace.get("sources", []):
        ranks = [Text(str(source["ranks"].get(channel, ""))) for channel in channels]
        place = f"{source['topic_id']}/{source['post_number']}"
        table.add_row(str(source["n"]), place, Text(source["title"]), *ranks, str(source["rrf"]), str(source["ce"]))
    return table
