"""`eval compare`: is one configuration better than another, or only luckier?"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from clients.composition import open_database
from clients.console import print_json
from clients.postgres.gap_store import GapStore
from eval.metrics import interval, paired_p
from eval.results import read
from eval.traffic import compared
from forum.errors import UsageError

METRICS = ("hit@1", "hit@5", "hit@25", "mrr@10")


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
    shared = sorted(one.keys() & other.keys())
    if not shared:
        raise UsageError(f"{a} and {b} have no question in common.")
    report: dict[str, Any] = {"a": a, "b": b, "n": len(shared)}
    for name in METRICS:
        left, right = (np.array([_value(name, ranks[key]) for key in shared]) for ranks in (one, other))
        report[name] = {
            "a": round(float(left.mean()), 4),
            "b": round(float(right.mean()), 4),
            "difference": round(float((left - right).mean()), 4),
            "difference_ci": interval(left - right),
            "p": round(paired_p(left, right), 4),
        }
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


def _value(metric: str, rank: int | None) -> float:
    kind, _, depth = metric.partition("@")
    if rank is None or rank > int(depth):
        return 0.0
    return 1.0 if kind == "hit" else 1.0 / rank
