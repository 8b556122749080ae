"""Overview: how the answers went, how long they took, how the index and the queue stand, what is down."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from flask import Blueprint, Response, request

from bot.health import readiness
from bot.pages.charts import Bar, Series, colour, spans, stacked
from bot.pages.frame import Room, ago, named, say, show
from clients.postgres.figures import figures
from clients.postgres.page_store import Row

RANGES = (1, 7, 30, 90)
_ORDER = ("ok", "weak", "abstain")
_FAILED = 5
#: Days up to which a bar is an hour.
_BY_HOUR = 2


def add_routes(routes: Blueprint, room: Room) -> None:
    @routes.get("/")
    def show_overview() -> Response:
        days = request.args.get("days", 30, type=int)
        days = days if days in RANGES else 30
        read = figures(room.database, leave_out=("asks",))
        one = {name: number for name, labels, number in read if not labels}
        state = readiness(room.ledger)
        answers = room.store.by_zone_and_route(days=days)
        charts = [
            _over_time("by_zone", "zone", _series(answers, "zone"), days),
            _over_time("by_route", "route", _series(answers, "route"), days),
            _queue([(labels[0], number) for name, labels, number in read if name == "threadcite_queue_depth"], one),
            _stages(room.store.stages(days=days)),
            _coverage(one),
            _over_time("by_part", "part", room.store.by_part(days=days), days),
        ]
        failed = room.store.failed(days=days, limit=_FAILED)
        return show(room, "overview", "overview", charts=charts, days=days, ranges=RANGES, state=state, failed=failed)


def _series(rows: Sequence[Row], kind: str) -> list[Row]:
    return [{**row, "series": row[kind]} for row in rows]


def _over_time(query: str, kind: str, rows: Sequence[Row], days: int) -> Row:
    times = _times(days)
    place = {at: i for i, at in enumerate(times)}
    names = sorted({row["series"] for row in rows}, key=lambda n: (_ORDER.index(n) if n in _ORDER else 9, n))
    series: list[Series] = []
    for name in names:
        numbers = [0] * len(times)
        for row in rows:
            if row["series"] == name and row["at"] in place:
                numbers[place[row["at"]]] += row["n"]
        series.append(Series(name=name, label=named(kind, name), numbers=tuple(numbers)))
    title = say(f"overview.{query}")
    table = [[one.label, sum(one.numbers)] for one in series]
    key = [(one.label, colour(one.name, n)) for n, one in enumerate(series)]
    drawn = stacked(times, series, title=title, day=_day(days)) if series else None
    return {
        "id": query,
        "title": title,
        "svg": drawn,
        "key": key,
        "table": table,
        "note": say("overview.hours" if days <= _BY_HOUR else "overview.dates"),
        "empty": say(f"overview.{query}.none"),
    }


def _times(days: int) -> list[datetime]:
    now = datetime.now(UTC)
    if days <= _BY_HOUR:
        last = now.replace(minute=0, second=0, microsecond=0)
        return [last - timedelta(hours=n) for n in range(days * 24, -1, -1)]
    last = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return [last - timedelta(days=n) for n in range(days, -1, -1)]


def _day(days: int):  # type: ignore[no-untyped-def]
    return lambda at: f"{at:%H:%M}" if days <= _BY_HOUR else f"{at:%d/%m}"


def _stages(rows: Sequence[Row]) -> Row:
    order = sorted((row for row in rows if row["stage"] != "total"), key=lambda row: -row["p95"])[:12]
    rows = [*order, *(row for row in rows if row["stage"] == "total")]
    bars = [
        Bar(
            label=named("stage", row["stage"]),
            start=row["p50"],
            end=row["p95"],
            text=f"{_ms(row['p50'])} – {_ms(row['p95'])}",
        )
        for row in rows
    ]
    title = say("overview.stages")
    drawn = spans(bars, title=title, logarithmic=True) if bars else None
    table = [[bar.label, bar.text] for bar in bars]
    return {
        "id": "stages",
        "title": title,
        "svg": drawn,
        "key": [],
        "table": table,
        "note": say("overview.stages.note"),
        "empty": say("overview.by_zone.none"),
    }


def _queue(lanes: Sequence[tuple[str, float]], one: dict[str, float]) -> Row:
    depth = dict(lanes)
    bars = [
        Bar(label=named("lane", lane), start=0, end=depth.get(lane, 0), text=f"{depth.get(lane, 0):.0f}", colour="s1")
        for lane in ("answers", "sync", "corrections", "house")
    ]
    waiting, oldest = one.get("threadcite_open_asks", 0), one.get("threadcite_open_asks_oldest_seconds", 0)
    note = say("overview.queue.note", waiting=f"{waiting:.0f}", oldest=ago(oldest))
    title = say("overview.queue")
    table = [[bar.label, bar.text] for bar in bars]
    return {"id": "queue", "title": title, "svg": spans(bars, title=title), "key": [], "table": table, "note": note}


def _coverage(one: dict[str, float]) -> Row:
    posts, vectors = one.get("threadcite_index_posts", 0), one.get("threadcite_index_vectors", 0)
    aside, waiting = one.get("threadcite_index_set_aside", 0), one.get("threadcite_index_waiting", 0)
    bars = [
        Bar(
            label=say(f"overview.coverage.{key}"),
            start=0,
            end=number,
            text=f"{number:,.0f}".replace(",", " "),
            colour=shade,
        )
        for key, number, shade in (
            ("posts", posts, "s0"),
            ("vectors", vectors, "s2"),
            ("aside", aside, "s3"),
            ("waiting", waiting, "s4"),
        )
    ]
    note = say("overview.coverage.note", lag=ago(one.get("threadcite_index_lag_seconds", 0)))
    title = say("overview.coverage")
    table = [[bar.label, bar.text] for bar in bars]
    return {"id": "coverage", "title": title, "svg": spans(bars, title=title), "key": [], "table": table, "note": note}


def _ms(value: float) -> str:
    return f"{value / 1000:.1f} s" if value >= 1000 else f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"
