"""Index: how far each backfill is, which models there are, what was set aside, what the last reconcile found."""

from __future__ import annotations

import json

from flask import Blueprint, Response

from bot.pages.frame import Room, say, show
from clients.postgres.figures import figures
from clients.postgres.page_store import Row

_STALLED_S = 120.0


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
    skipped = ", ".join(f"{reason}: {count}" for reason, count in sorted((row["skipped"] or {}).items()))
    return {
        **row,
        "state": "stalled" if stalled else row["state"],
        "share": share,
        "rate": round(row["seen"] / seconds, 1),
        "skipped": skipped or "–",
    }


def _reconcile(row: Row | None) -> Row | None:
    """What the last run told: its JSON where it is one, else its words."""
    if row is None:
        return None
    try:
        told = json.loads(row["detail"] or "{}")
    except ValueError:
        told = {say("index.reconcile.said"): row["detail"]}
    told = told if isinstance(told, dict) else {"drift": told}
    return {"age_s": row["age_s"], "state": row["state"], "told": told}
