"""Puts the practice forum together: state, API, practice routes, pages and webhooks in one Flask application."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from demo.answers import refusal
from demo.api import Api
from demo.content import CONTENT, read_content
from demo.faults import Faults
from demo.forum_state import ForumState
from demo.journal import Journal
from demo.pages import Pages
from demo.practice import practice
from demo.rules import Refused, not_found
from demo.settings import Settings
from demo.site import Site
from demo.store import Store
from demo.webhooks import Hook, Webhooks

#: the keys of a forum in a test that was given none: the bot's own, and one that may be anybody
BOT_KEY, ADMIN_KEY = "practice-bot-key", "practice-admin-key"
MAX_BODY = 5 * 1024 * 1024
_LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")


def build_site(
    *,
    base_url: str,
    content: Path = CONTENT,
    state: Path | None = None,
    hooks: tuple[Hook, ...] = (),
    keys: Mapping[str, str] | None = None,
    bot_key: str = "",
    admin_key: str = "",
    settings: Settings | None = None,
    clock: Callable[[], datetime] | None = None,
) -> Site:
    """The forum behind the routes; with a `state` folder it goes on where it was."""
    sample = read_content(content)
    forum = ForumState(Store(Journal(state), sample), settings, clock)
    faults = Faults()
    webhooks = Webhooks(forum, hooks, base_url, faults)
    if keys is None and not (bot_key or admin_key):
        bot_key, admin_key = BOT_KEY, ADMIN_KEY
    named = {bot_key: sample.bot, admin_key: ""}
    owners = {**(keys or {}), **{key: owner for key, owner in named.items() if key}}
    return Site(forum=forum, faults=faults, webhooks=webhooks, base_url=base_url, keys=owners, bot=sample.bot)


def build_app(site: Site, *, local_only: bool = True) -> Flask:
    """`local_only`: refuse requests for other host names, so that a page elsewhere cannot reach in by DNS."""
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY
    app.url_map.strict_slashes = False
    app.register_blueprint(Api(site).blueprint())
    app.register_blueprint(practice(site))
    pages = Pages(site)
    app.register_blueprint(pages.blueprint())

    @app.before_request
    def only_local() -> Response | None:
        host = request.host.rsplit(":", 1)[0] if not request.host.endswith("]") else request.host
        if local_only and host not in _LOCAL_NAMES:
            return Response("This practice forum answers on 127.0.0.1 only.\n", 421, content_type="text/plain")
        return None

    @app.after_request
    def careful(response: Response) -> Response:
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        response.headers.setdefault("Referrer-Policy", "same-origin")
        response.headers.setdefault(
            "Content-Security-Policy",
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
            "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        )
        return response

    @app.errorhandler(HTTPException)
    def failed(error: HTTPException) -> Response:
        if request.path.endswith(".json") or request.path.startswith(("/practice/", "/posts")):
            known = {404: not_found(), 413: Refused(413, "The request is too large.")}
            status = error.code or 500
            return refusal(known.get(status, Refused(status, error.name)))
        return pages.problem(error.code or 500)

    return app
