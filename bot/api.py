"""POST /ask: the answers of the bot for other programs; GET /openapi.json describes it."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import structlog
from flask import Blueprint, Response, jsonify, request
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge

from bot.answer import answer
from bot.api_request import AskBody, config_for, question_of, read_body
from bot.api_tokens import Pace, Tokens
from bot.live_tools import Equipped
from bot.observe import observe
from bot.openapi import openapi
from bot.places import Busy, Places
from bot.trace import Tell, silent
from bot.view import view, view_trace
from clients.postgres.pool import Database
from clients.postgres.traces import save_trace
from forum.config import Config
from forum.errors import DatabaseUnavailable, ThreadciteError
from forum.types import Answer, StageRecord

log = structlog.get_logger("threadcite.api")

_EVENTS = "text/event-stream"
#: Proxies close a connection on which nothing was said for a while.
_STILL_THERE_S = 15.0


def api(
    database: Database, equipped: Callable[[], Equipped], config: Callable[[], Config], tokens: Tokens
) -> Blueprint:
    """The routes. `equipped` gives the tools that belong to the config in force; they are built at the first question.

    Sees what everyone may read, whoever asks: no category is opened for a token.
    """
    routes = Blueprint("api", __name__)
    places = Places(config().api.concurrency, config().api.waiting)
    pace = Pace()

    @routes.get("/openapi.json")
    def description() -> Response:
        return jsonify(openapi(config()))

    @routes.post("/ask")
    def ask() -> Response:
        now = config()
        name = tokens.name_of(request.headers.get("Authorization"))
        if name is None:
            return _refuse(401, "a bearer token of THREADCITE_API_TOKENS is needed", **{"WWW-Authenticate": "Bearer"})
        if wait := pace.wait_s(name, now.api.per_minute):
            return _refuse(429, f"{now.api.per_minute} questions a minute are allowed", **{"Retry-After": str(wait)})
        if request.mimetype != "application/json":
            return _refuse(415, "send the body as application/json")
        request.max_content_length = now.api.max_body_bytes
        try:
            asked = read_body(request.get_data(cache=False), now)
        except RequestEntityTooLarge:
            return _refuse(413, f"the body's limit is {now.api.max_body_bytes} bytes")
        except ClientDisconnected:
            return _refuse(400, "the body was cut off")
        except ValueError as error:
            return _refuse(400, str(error))
        try:
            places.enter()
        except Busy:
            return _refuse(503, "too many questions at once", **{"Retry-After": "2"})
        work = _Work(database, equipped, places, asked, name)
        if request.accept_mimetypes.best_match(["application/json", _EVENTS]) == _EVENTS:
            return Response(
                work.events(), mimetype=_EVENTS, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
            )
        try:
            return jsonify(view(work.do()))
        except ThreadciteError as error:
            return _refuse(503, _said(error), **{"Retry-After": "30"})

    return routes


class _Work:
    """One question from its place in the queue to the stored trace."""

    def __init__(
        self, database: Database, equipped: Callable[[], Equipped], places: Places, asked: AskBody, token: str
    ) -> None:
        self._database, self._equipped, self._places = database, equipped, places
        self._asked, self._token = asked, token

    def do(self, tell: Tell = silent) -> Answer:
        """Raises what `answer` and the tools raise."""
        with self._places.work():
            started = time.perf_counter()
            now = self._equipped()
            question = question_of(self._asked, asker=f"api:{self._token}", at=now.tools.now())
            given = answer(question, now.tools, config_for(self._asked, now.config), tell=tell)
            observe(given)
            save_trace(self._database, given, view_trace(given), question=question.text)
        ms = round((time.perf_counter() - started) * 1000, 1)
        log.info("asked", token=self._token, trace=given.trace_id, ms=ms)
        return given

    def events(self) -> Iterator[str]:
        """Server-sent events: `stage` as each ends, `text` (a paragraph each, verified and rendered), `answer`, or
        `error`. The question is answered to its end even when nobody listens any more."""
        told: queue.SimpleQueue[tuple[str, dict[str, Any]] | None] = queue.SimpleQueue()

        def work() -> None:
            try:
                given = self.do(lambda record: told.put(("stage", _stage(record))))
                for paragraph in given.text.split("\n\n"):
                    told.put(("text", {"text": paragraph}))
                told.put(("answer", view(given)))
            except ThreadciteError as error:
                told.put(("error", {"error": _said(error)}))
            except Exception:
                log.exception("ask_failed", token=self._token)
                told.put(("error", {"error": "the answer failed; the log says why"}))
            finally:
                told.put(None)

        threading.Thread(target=work, name="ask", daemon=True).start()
        while True:
            try:
                event = told.get(timeout=_STILL_THERE_S)
            except queue.Empty:
                yield ": still at work\n\n"
                continue
            if event is None:
                return
            yield f"event: {event[0]}\ndata: {json.dumps(event[1], ensure_ascii=False)}\n\n"


def _stage(record: StageRecord) -> dict[str, Any]:
    """Without reason and data: those may hold words of members or of a model that nothing has verified."""
    return {"stage": record.stage, "ms": record.ms}


def _said(error: ThreadciteError) -> str:
    return "the database does not answer" if isinstance(error, DatabaseUnavailable) else str(error)


def _refuse(status: int, reason: str, **headers: str) -> Response:
    log.info("ask_refused", status=status)
    answered = jsonify(error=reason)
    answered.status_code = status
    answered.headers.update(headers)
    return answered
