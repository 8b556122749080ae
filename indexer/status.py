"""What the index holds and how the backfills stand, as one JSON-able value."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from clients.postgres.backfill_store import BackfillState, BackfillStore
from clients.postgres.lease_store import LeaseStore
from clients.postgres.model_store import ModelStore
from clients.postgres.pausing import Pausing
from clients.postgres.pool import Database

#: A running backfill that has not moved for this long has been killed.
_STALLED_S = 120.0


def status(database: Database) -> dict[str, Any]:
    """Counts of the index, its model, its lag in seconds (age of the newest post indexed), and every backfill."""
    now = datetime.now(UTC)
    with database.connection() as connection:
        row = connection.execute(
            "SELECT count(*), count(*) FILTER (WHERE text IS NOT NULL), count(*) FILTER (WHERE truncated),"
            " count(*) FILTER (WHERE deleted_at IS NOT NULL), max(indexed_at),"
            " max(created_at) FILTER (WHERE text IS NOT NULL), count(DISTINCT topic_id) FROM post"
        ).fetchone()
        skipped = dict(
            connection.execute(
                "SELECT skipped, count(*) FROM post WHERE text IS NULL AND skipped IS NOT NULL GROUP BY 1 ORDER BY 1"
            ).fetchall()
        )
        aside = connection.execute("SELECT count(DISTINCT post_id) FROM set_aside").fetchone()
        sizes = connection.execute(
            "SELECT pg_total_relation_size('post') + pg_total_relation_size('embedding')"
        ).fetchone()
    seen, indexed, truncated, deleted, at, newest, topics = row or (0, 0, 0, 0, None, None, 0)
    models = ModelStore(database).models()
    active = next((one for one in models if one.active), None)
    runs = [_run(one, now) for one in BackfillStore(database).states()]
    leases = LeaseStore(database)
    workers = leases.workers()
    waiting = leases.waiting(active.id) if active else 0
    embedding_rate = sum(one.rate for one in workers)
    running = [run for run in runs if run["state"] == "running"]
    return {
        "posts": {"seen": seen, "indexed": indexed, "topics": topics, "deleted": deleted},
        "skipped": skipped,
        "set_aside": aside[0] if aside else 0,
        "truncated": truncated,
        "model": active.name if active else None,
        "dimensions": active.dimensions if active else None,
        "vectors": active.vectors if active else 0,
        "index": active.index_kind if active else "none",
        "models": [
            {"name": one.name, "dimensions": one.dimensions, "active": one.active, "vectors": one.vectors}
            for one in models
        ],
        "lag_s": round((now - at).total_seconds(), 1) if at else None,
        "newest_post_at": newest,
        "bytes": sizes[0] if sizes else 0,
        "waiting_for_vector": waiting,
        "workers": len(running) + len(workers),
        "rate": round(sum(run["rate"] for run in running) or embedding_rate, 1),
        "eta_s": max(
            (run["eta_s"] for run in running if run["eta_s"] is not None),
            default=round(waiting / embedding_rate, 1) if waiting and embedding_rate else None,
        ),
        "state": _state(paused=Pausing(database).paused(), running=bool(running), waiting=waiting, runs=runs),
        "backfills": runs,
    }


def _state(*, paused: bool, running: bool, waiting: int, runs: list[dict[str, Any]]) -> str:
    if paused:
        return "paused"
    if running:
        return "running"
    if waiting:
        return "embedding"
    return str(runs[0]["state"]) if runs else "empty"


def _run(one: BackfillState, now: datetime) -> dict[str, Any]:
    seconds = max((one.updated_at - one.started_at).total_seconds(), 0.001)
    rate = one.seen / seconds
    left = max((one.total or 0) - one.seen, 0)
    stalled = one.state == "running" and (now - one.updated_at).total_seconds() > _STALLED_S
    return {
        "source": one.source,
        "state": "stalled" if stalled else one.state,
        "seen": one.seen,
        "total": one.total,
        "indexed": one.indexed,
        "unchanged": one.unchanged,
        "skipped": dict(one.skipped),
        "set_aside": one.set_aside,
        "rate": round(rate, 1),
        "eta_s": round(left / rate, 1) if one.total and rate and one.state == "running" else None,
        "started_at": one.started_at,
        "updated_at": one.updated_at,
    }
