"""Index: how far each backfill is, which models there are, what was set aside, what the last reconcile found."""

from __future__ import annotations

import json

from flask import Blueprint, Response

from bot.pages.charts import Bar, spans
from bot.pages.frame import Room, named, say, show
from clients.postgres.figures import figures
from clients.postgres.page_store import Row

_STALLED_S = 120.0
#: Of drift, in the order of the chart; as `indexer reconcile` writes them.
_KINDS = ("missing", "stale", "moved", "gone", "private", "topic")


def add_routes(routes: Blueprint, room: Room) -> None:
    @routes.get("/index")
    def show_index() -> Response:
        one = {name: number for name, labels, number in figures(room.database, leave_out=("asks",)) if not labels}
        health = {row["name"]: row for row in room.ledger.health()}
        return show(
            room,
            "index",
            "index",
            one=one,
            backfills=[_run(row) for row in room.store.backfills()],
            models=room.store.models(),
            aside=room.store.set_aside(),
            reconcile=_reconcile(health.get("reconcile")),
        )


def _run(row: Row) -> Row:
    stalled = row["state"] == "running" and row["quiet_s"] > _STALLED_S
    share = min(100, round(100 * row["seen"] / row["total"])) if row["total"] else None
    seconds = max((row["updated_at"] - row["started_at"]).total_seconds(), 0.001)
    told = sorted((reason, count) for reason, count in (row["skipped"] or {}).items() if count)
    # What a reconcile run counted is drift; it has its own chart.
    skipped = ", ".join(f"{named('skipped', reason)}: {count}" for reason, count in told if reason not in _KINDS)
    return {
        **row,
        "state": "stalled" if stalled else row["state"],
        "share": share,
        "rate": round(row["seen"] / seconds, 1),
        "skipped": skipped,
    }


def _reconcile(row: Row | None) -> Row | None:
    """What the last run told: its drift by kind as a chart, or its words where it told no numbers."""
    if row is None:
        return None
    try:
        told = json.loads(row["detail"] or "{}")
    except ValueError:
        told = None
    if not isinstance(told, dict):
        return {"age_s": row["age_s"], "said": row["detail"], "svg": None}
    checked, drift = (f"{told.get(key, 0):,}".replace(",", " ") for key in ("checked", "drift"))
    how = "none" if not told.get("drift") else "mended" if told.get("repaired", True) else "left"
    bars = [
        Bar(label=named("drift", kind), start=0, end=told[kind], text=str(told[kind]), colour="s1")
        for kind in _KINDS
        if kind in told
    ]
    return {
        "age_s": row["age_s"],
        "said": say(f"index.reconcile.{how}", checked=checked, drift=drift),
        "svg": spans(bars, title=say("index.reconcile.kinds"), labels=150) if bars and told.get("drift") else None,
        "table": [[bar.label, bar.text] for bar in bars],
    }
