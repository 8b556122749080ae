"""The blueprint of /admin: every route, the login before it, and the headers after it."""

from __future__ import annotations

import urllib.parse

import structlog
from flask import Blueprint, Response, abort, g, redirect, request, url_for
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as AnyResponse

from bot.pages import answers, drafts, flags, gaps, index, overview, playground
from bot.pages.access import COOKIE, PATH
from bot.pages.frame import HEADERS, LANGUAGE_COOKIE, Room, own_form, say, show
from bot.pages.wording import LANGUAGES
from forum.errors import DatabaseUnavailable

_OPEN = frozenset(("admin.login", "admin.sign_in", "admin.static", "admin.choose_language"))

log = structlog.get_logger("threadcite.admin")


def admin(room: Room) -> Blueprint:
    """All pages. Without a token and without a proxy every page says how to set one."""
    routes = Blueprint("admin", __name__, url_prefix=PATH, template_folder="templates", static_folder="static")
    _guard(routes, room)
    _doors(routes, room)
    for page in (overview, answers, playground, drafts, gaps, index, flags):
        page.add_routes(routes, room)
    return routes


def _guard(routes: Blueprint, room: Room) -> None:
    @routes.before_request
    def signed_in() -> AnyResponse | None:
        g.default_language = room.config().admin.language
        request.max_content_length = request.max_form_memory_size = 300_000
        g.session = room.access.session(request)
        if request.endpoint in _OPEN or (g.session and room.access.is_set_up):
            return None
        if request.method != "GET":
            abort(403)
        return redirect(url_for("admin.login", next=request.full_path.rstrip("?")), 303)

    @routes.after_request
    def protected(response: Response) -> Response:
        response.headers.update(HEADERS)
        if request.endpoint == "admin.static":
            response.headers["Cache-Control"] = "public, max-age=3600"
        if g.get("session") and g.session.fresh:
            room.access.keep(g.session, response)
        return response

    @routes.errorhandler(DatabaseUnavailable)
    def away(error: DatabaseUnavailable) -> Response:
        return Response(f"{say('problem.database')} {error}", 503, content_type="text/plain; charset=utf-8")

    @routes.errorhandler(HTTPException)
    def refused(error: HTTPException) -> AnyResponse:
        if error.code is None or error.code < 400:
            return error.get_response()
        key = f"problem.{error.code if error.code in (403, 404, 413, 429) else 'other'}"
        return show(room, "problem", "problem", error.code, said=say(key))


def _doors(routes: Blueprint, room: Room) -> None:
    @routes.get("/login")
    def login() -> Response:
        return _login_page(room)

    @routes.post("/login")
    def sign_in() -> AnyResponse:
        address = request.remote_addr or ""
        session = room.access.sign_in(request.form.get("token", "")[:1000], address)
        if session is None:
            locked = room.access.is_locked(address)
            log.warning("admin_login_failed", address=address, locked=locked)
            return _login_page(room, 429 if locked else 401, say("login.locked" if locked else "login.wrong"))
        g.session = session
        return redirect(_inside(request.args.get("next")), 303)

    @routes.post("/logout")
    def logout() -> AnyResponse:
        own_form(room)
        g.session = None
        left = redirect(url_for("admin.login"), 303)
        left.delete_cookie(COOKIE, path=PATH)
        return left

    @routes.get("/language/<chosen>")
    def choose_language(chosen: str) -> AnyResponse:
        if chosen not in LANGUAGES:
            abort(404)
        changed = redirect(_inside(request.args.get("next")), 303)
        changed.set_cookie(LANGUAGE_COOKIE, chosen, max_age=31_536_000, samesite="Lax", path=PATH, httponly=True)
        return changed


def _login_page(room: Room, status: int = 200, problem: str = "") -> Response:
    ready = room.access.is_set_up
    return show(room, "login", "login", status, problem=problem, is_set_up=ready, takes_token=room.access.takes_token)


def _inside(target: str | None) -> str:
    """Only our own pages: a login must not be a door to elsewhere."""
    path = urllib.parse.urlsplit(target or "").path
    safe_path = path.startswith(f"{PATH}/") and "\\" not in path and not path.startswith("//")
    query = urllib.parse.urlsplit(target or "").query
    return (path + (f"?{query}" if query else "")) if safe_path else url_for("admin.show_overview")
