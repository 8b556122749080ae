"""Answers: every stored answer with search, filters and pages, and one answer with its whole trace."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

from flask import Blueprint, Response, abort, redirect, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from bot.pages.frame import Room, place, place_of, show
from clients.postgres.page_store import Row
from forum.ask import AskState
from forum.types import Route, Zone
from forum.unicode_safety import safe

_PAGE = 50


def add_routes(routes: Blueprint, room: Room) -> None:
    @routes.get("/answers")
    def show_answers() -> AnyResponse:
        zone, route, state = _one_of(Zone, "zone"), _one_of(Route, "route"), _one_of(AskState, "state")
        words = safe(request.args.get("q", ""))[:200].strip()
        if words and room.store.answer(words):
            return redirect(url_for("admin.show_answer", trace_id=words), 303)
        rows = room.store.answers(
            zone=zone,
            route=route,
            state=state,
            words=words or None,
            after=place(request.args.get("after")),
            limit=_PAGE + 1,
        )
        at, last = ("came_at", "post_id") if state else ("created_at", "id")
        more = place_of(rows[_PAGE - 1][at], rows[_PAGE - 1][last]) if len(rows) > _PAGE else ""
        return show(
            room,
            "answers",
            "answers",
            rows=rows[:_PAGE],
            more=more,
            zone=zone,
            route=route,
            state=state,
            q=words,
            zones=[one.value for one in Zone],
            routes=[one.value for one in Route],
            states=[one.value for one in AskState],
        )

    @routes.get("/answers/<trace_id>")
    def show_answer(trace_id: str) -> Response:
        row = room.store.answer(trace_id)
        if row is None:
            abort(404)
        return show(room, "answer", "answers", row=row, shadows=room.store.shadows(trace_id), **unfolded(row["body"]))


def unfolded(body: Row) -> dict[str, Any]:
    """A trace as the page shows it: sources, candidates by rank, prompt, what was dropped, and every stage's data."""
    stages = body.get("stages") or []
    data = {stage["stage"]: stage.get("data") or {} for stage in stages}
    channels = sorted({channel for source in body.get("sources", []) for channel in source.get("ranks", {})})
    return {
        "body": body,
        "stages": stages,
        "channels": channels,
        "candidates": _candidates(data),
        "prompt": data.get("generate", {}).get("prompt") or [],
        "dropped": data.get("verify", {}).get("dropped") or [],
        "wrote": data.get("generate", {}).get("reply") or "",
        "details": {
            stage["stage"]: json.dumps(stage.get("data") or {}, ensure_ascii=False, indent=1) for stage in stages
        },
    }


def _candidates(data: dict[str, Any]) -> list[Row]:
    """Every fused candidate: its place by RRF, its rank by channel, and the logit that the reranker gave it."""
    logits = {one[0]: one[1] for one in data.get("rerank", {}).get("logits") or []}
    fused = data.get("recall", {}).get("fused") or []
    rows = [
        {"place": n, "post_id": one[0], "rrf": one[1], "ranks": one[2], "logit": logits.get(one[0])}
        for n, one in enumerate(fused, 1)
        if isinstance(one, list) and len(one) == 3
    ]
    return sorted(rows, key=lambda row: (row["logit"] is None, -(row["logit"] or 0.0)))


def _one_of(kind: type[StrEnum], name: str) -> str | None:
    value = request.args.get(name, "")
    return value if value in {one.value for one in kind} else None
