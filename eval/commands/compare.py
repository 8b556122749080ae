"""`eval compare`: is one configuration better than another, or only luckier?"""

from __future__ import annotations

from typing import Annotated

import typer

from clients.composition import open_database
from clients.console import print_json
from clients.postgres.gap_store import GapStore
from eval.paired import METRICS, paired
from eval.results import read
from eval.traffic import compared
from forum.errors import UsageError


def compare(
    a: Annotated[str, typer.Argument(help="RESULT or RESULT:ROW, a result of `retrieval --save` by path or name.")],
    b: Annotated[str, typer.Argument(help="The other one; rows are keyword, posts, rrf, reranked, ...")],
    days: Annotated[int, typer.Option(min=1, help="With `live shadow`: how far to look back, days.")] = 30,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")] = False,
) -> None:
    """The difference A - B by metric over the questions that both have, with its 95 % interval and a paired p.

    `compare live shadow` compares the answers of the running installation with their shadows (`shadow` in
    config.yml): real questions, other flags.

    Example: python -m eval compare slice-wordllama:reranked slice-wordllama:rrf
    """
    if (a, b) == ("live", "shadow"):
        _traffic(days, json)
        return
    one, other = _ranks(a), _ranks(b)
    report = {"a": a, "b": b, **paired(one, other)}
    if not report["n"]:
        raise UsageError(f"{a} and {b} have no question in common.")
    if json:
        print_json(report)
        return
    print(f"{report['n']} questions: {a} - {b}")
    for name in METRICS:
        row = report[name]
        low, high = row["difference_ci"]
        means = f"{row['a']:.3f} - {row['b']:.3f} = {row['difference']:+.3f}"
        print(f"{name:8} {means} [{low:+.3f}, {high:+.3f}], p {row['p']:.4f}")


def _traffic(days: int, json: bool) -> None:
    with open_database() as database:
        report = compared(GapStore(database).shadow_pairs(days=days))
    if json or not report["n"]:
        print_json(report) if json else print("No shadow answers yet: set shadow.share and shadow.flags in config.yml.")
        return
    for name, value in report.items():
        print(f"{name:24} {value}")


def _ranks(argument: str) -> dict[str, int | None]:
    name, _, row = argument.rpartition(":") if ":" in argument else (argument, "", "reranked")
    rows = read(name).get("first_relevant")
    if not isinstance(rows, dict) or row not in rows:
        known = ", ".join(rows) if isinstance(rows, dict) else "none: make it with `retrieval --save`"
        raise UsageError(f"{argument}: no row {row!r} (rows: {known}).")
    ranks: dict[str, int | None] = rows[row]
    return ranks
