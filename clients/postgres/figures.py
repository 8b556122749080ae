"""The numbers that say how the ledger, the queue and the index stand, each by an index or a small table."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import TypeAlias

from clients.postgres.pool import Database
from clients.postgres.queries import queries

#: Name, label values, number.
Figure: TypeAlias = tuple[str, tuple[str, ...], float]


def figures(database: Database, *, leave_out: Collection[str] = ()) -> list[Figure]:
    """One reading of all of them but the queries left out (`asks` counts the whole ledger). Raises
    DatabaseUnavailable."""
    sql = queries("metrics")
    with database.connection() as connection:
        rows = {name: connection.execute(text).fetchall() for name, text in sql.items() if name not in leave_out}
    read: list[Figure] = [("threadcite_asks_now", (state,), number) for state, number in rows.get("asks", ())]
    for query, names in (
        ("open", ("threadcite_open_asks", "threadcite_open_asks_oldest_seconds")),
        ("posts", ("threadcite_index_posts",)),
        ("vectors", ("threadcite_index_vectors",)),
        ("undigested", ("threadcite_index_waiting", "threadcite_index_lag_seconds")),
        ("set_aside", ("threadcite_index_set_aside",)),
        ("gaps", ("threadcite_open_gaps",)),
    ):
        read += [(name, (), number) for name, number in zip(names, rows[query][0], strict=True)]
    for lane, depth, oldest in rows["lanes"]:
        read += [("threadcite_queue_depth", (lane,), depth), ("threadcite_queue_oldest_seconds", (lane,), oldest)]
    refused = 0.0
    for part, state, detail, age in rows["parts"]:
        if part == "reconcile":
            read.append(("threadcite_index_drift", (), drift_of(detail)))
        if part == "config":
            refused = float(state == "refused")
        read.append(("threadcite_part_up", (part,), float(state in ("ok", "closed"))))
        read.append(("threadcite_part_seen_seconds", (part,), age))
    return [*read, ("threadcite_config_refused", (), refused)]


def drift_of(detail: str) -> float:
    """The differences that a reconcile run reported: its JSON's `drift`, else the number that `detail` is."""
    try:
        told = json.loads(detail or "0")
    except ValueError:
        return 0.0
    value = told.get("drift", 0) if isinstance(told, dict) else told
    return float(value) if isinstance(value, int | float) else 0.0
