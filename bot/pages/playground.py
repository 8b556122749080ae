"""Playground: ask with other flags, see evidence and answer, two settings side by side; nothing reaches the forum."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Response, request

from bot.answer import answer
from bot.live_tools import Equipped
from bot.pages.answers import unfolded
from bot.pages.flags import explained
from bot.pages.frame import Room, form, own_form, say, show
from bot.view import view_trace
from clients.postgres.traces import save_trace
from forum.config import Config, FlagsSection
from forum.errors import ThreadciteError
from forum.types import Question

#: One at a time: the web process must stay free for the forum's deliveries.
_PATIENCE_S = 20.0
FLAGS = tuple(FlagsSection.model_fields)


@dataclass(frozen=True, kw_only=True, slots=True)
class Try:
    """One side of the comparison."""

    name: str
    flags: dict[str, bool]
    outcome: dict[str, Any]


def add_routes(routes: Blueprint, room: Room) -> None:
    turn = threading.BoundedSemaphore(1)

    @routes.get("/playground")
    def show_playground() -> Response:
        return _page(room)

    @routes.post("/playground")
    def play() -> Response:
        own_form(room)
        question, title = form("question").strip(), form("title", 255).strip()
        if not question:
            return _page(room, problem=say("playground.empty"), status=400)
        if not turn.acquire(timeout=_PATIENCE_S):
            return _page(room, problem=say("playground.busy"), status=503)
        try:
            equipped = room.tools()
            sides = ("a", "b") if request.form.get("compare") else ("a",)
            tries = [_tried(room, equipped, side, Question(text=question, title=title)) for side in sides]
        except ThreadciteError as error:
            return _page(room, problem=str(error), status=503)
        finally:
            turn.release()
        return _page(room, tries=tries)


def _tried(room: Room, equipped: Equipped, side: str, question: Question) -> Try:
    flags = {name: request.form.get(f"{side}.{name}") == "on" for name in FLAGS}
    config = equipped.config.model_copy(update={"flags": FlagsSection(**flags)})
    given = answer(question, equipped.tools, config)
    body = view_trace(given)
    save_trace(room.database, given, body, question=question.text)
    return Try(name=side.upper(), flags=flags, outcome={"id": given.trace_id, **unfolded(body)})


def _page(room: Room, *, tries: list[Try] | None = None, problem: str = "", status: int = 200) -> Response:
    now = room.config()
    asked = {side: {name: _wanted(now, side, name) for name in FLAGS} for side in ("a", "b")}
    return show(
        room,
        "playground",
        "playground",
        status,
        flags=FLAGS,
        asked=asked,
        now=now.flags.model_dump(),
        what={name: explained(f"flags.{name}") for name in FLAGS},
        question=form("question"),
        title=form("title", 255),
        compare=bool(request.form.get("compare")),
        tries=tries or [],
        problem=problem,
    )


def _wanted(config: Config, side: str, name: str) -> bool:
    """What the form asked for, else what runs now."""
    if request.method == "POST":
        return request.form.get(f"{side}.{name}") == "on"
    return bool(getattr(config.flags, name))
