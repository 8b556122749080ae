"""Gaps: what members ask and the forum does not answer, grouped, and where a person has answered since."""

from __future__ import annotations

from collections import defaultdict

from flask import Blueprint, Response, abort, request
from werkzeug.wrappers import Response as AnyResponse

from bot.pages.frame import Room, back_to, own_form, show

_SHOWN = 50
_STATES = ("open", "closed", "ignored")


def add_routes(routes: Blueprint, room: Room) -> None:
    @routes.get("/gaps")
    def show_gaps() -> Response:
        state = request.args.get("state", "open")
        state = state if state in _STATES else "open"
        rows = room.store.gaps(state=state, limit=_SHOWN)
        ids = [row["id"] for row in rows]
        questions = defaultdict(list)
        for one in room.store.gap_questions(ids):
            questions[one["gap_id"]].append(one)
        bot = room.config().forum.bot_username
        answered = {one["gap_id"]: one for one in room.store.answered_since(ids, bot=bot)}
        return show(
            room, "gaps", "gaps", rows=rows, questions=questions, answered=answered, state=state, states=_STATES
        )

    @routes.post("/gaps/<int:gap_id>")
    def set_gap(gap_id: int) -> AnyResponse:
        own_form(room)
        state = request.form.get("state", "")
        if state not in _STATES:
            abort(403)
        room.store.set_gap(gap_id, state)
        return back_to("admin.show_gaps")
