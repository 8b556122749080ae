"""Drafts: answers that wait for a person, to approve as they are, to edit, or to discard."""

from __future__ import annotations

import structlog
from flask import Blueprint, Response, g, request
from werkzeug.wrappers import Response as AnyResponse

from bot.jobs import answer_job
from bot.pages.frame import Room, back_to, form, own_form, place, place_of, say, show

_PAGE = 20
_LONGEST = 32_000

log = structlog.get_logger("threadcite.admin")


def add_routes(routes: Blueprint, room: Room) -> None:
    @routes.get("/drafts")
    def show_drafts() -> Response:
        return _page(room)

    @routes.post("/drafts/<int:post_id>")
    def decide(post_id: int) -> AnyResponse:
        own_form(room)
        match request.form.get("do"):
            case "approve":
                done = _approve(room, post_id)
            case "discard":
                done = room.ledger.discard(post_id, by=g.session.user) is not None
            case _:
                done = False
        log.info("draft_decided", post=post_id, do=request.form.get("do"), by=g.session.user, done=done)
        return back_to("admin.show_drafts") if done else _page(room, say("drafts.moved_on"), 409)


def _approve(room: Room, post_id: int) -> bool:
    """Hand the reply to the worker, with the words of the form where somebody changed them."""
    text = form("reply", _LONGEST).replace("\r\n", "\n").strip()
    ask = room.ledger.load(post_id)
    if ask is None or not text:
        return False
    changed = text != (ask.reply_raw or "").strip()
    approved = room.ledger.approve(post_id, reply_raw=text if changed else None, by=g.session.user)
    if approved is None:
        return False
    with room.database.transaction() as connection:
        room.queue.defer(connection, answer_job(approved.post_id, approved.topic_id))
    return True


def _page(room: Room, problem: str = "", status: int = 200) -> Response:
    rows = room.store.drafts(after=place(request.args.get("after")), limit=_PAGE + 1)
    more = place_of(rows[_PAGE - 1]["updated_at"], rows[_PAGE - 1]["post_id"]) if len(rows) > _PAGE else ""
    return show(room, "drafts", "drafts", status, rows=rows[:_PAGE], more=more, problem=problem)
