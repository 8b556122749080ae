"""What every admin page shares: who looks, in which language, the page's frame, and the headers that protect it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from flask import Response, abort, g, make_response, redirect, render_template, request
from markdown_it import MarkdownIt
from markupsafe import Markup
from werkzeug.wrappers import Response as AnyResponse

from bot.graph import calls
from bot.live_tools import LiveTools
from bot.pages.access import Access, Session
from bot.pages.wording import LANGUAGES, has_words, words
from clients.postgres.ledger import Ledger
from clients.postgres.page_store import PageStore, Place
from clients.postgres.pool import Database
from clients.postgres.queue import Queue
from forum.config import Config
from forum.unicode_safety import safe

LANGUAGE_COOKIE = "threadcite_language"
#: Nothing from elsewhere, nothing inline: the pages are HTML and one stylesheet.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
PAGES = ("overview", "answers", "playground", "drafts", "gaps", "index", "flags")


@dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """What the pages work with."""

    database: Database
    store: PageStore
    ledger: Ledger
    queue: Queue
    config: Callable[[], Config]
    tools: LiveTools
    access: Access


def language() -> str:
    """The reader's choice, else the browser's, else the config's."""
    chosen = request.cookies.get(LANGUAGE_COOKIE)
    if chosen in LANGUAGES:
        return chosen
    return request.accept_languages.best_match(LANGUAGES) or str(g.default_language)


def say(key: str, **fields: Any) -> str:
    """The words `key` in the reader's language."""
    return words(key, language(), **fields)


def named(kind: str, name: object) -> str:
    """What a zone, route, state or stage is called; its own name where there are no words for it."""
    key = f"{kind}.{name}"
    return say(key) if has_words(key) else str(name)


def show(room: Room, template: str, page: str, status: int = 200, **values: Any) -> Response:
    """A page in its frame."""
    refused = next((row for row in room.ledger.health() if row["name"] == "config" and row["state"] != "ok"), None)
    session: Session | None = g.get("session")
    body = render_template(
        f"admin/{template}.html",
        page=page,
        pages=PAGES,
        t=say,
        named=named,
        called=calls,
        lang=language(),
        session=session,
        proof=room.access.proof(session) if session else "",
        refused=refused["detail"] if refused else "",
        mode=room.config().bot.mode,
        forum=room.config().forum.base_url,
        ago=ago,
        when=when,
        markdown=markdown,
        **values,
    )
    return make_response(body, status)


def form(name: str, longest: int = 20_000) -> str:
    """A field of the form, visible text of at most `longest` characters."""
    return safe(request.form.get(name, ""))[:longest]


def own_form(room: Room) -> None:
    """Ends the request with 403 unless the form came from our own page."""
    if not room.access.is_own_form(g.session, request):
        abort(403)


def back_to(endpoint: str) -> AnyResponse:
    from flask import url_for

    return redirect(url_for(endpoint), 303)


def place(text: str | None) -> Place | None:
    """Where a page ended, from its link; None when there is none or somebody made one up."""
    at, _, last = (text or "").partition("~")
    try:
        return (datetime.fromisoformat(at), last) if last else None
    except ValueError:
        return None


def place_of(at: datetime, last: object) -> str:
    return f"{at.isoformat()}~{last}"


def when(at: datetime | None) -> str:
    """2026-11-30 14:05, UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}" if at else "–"


def ago(seconds: float | None) -> str:
    """12 s, 5 min, 3 h, 4 d."""
    if seconds is None:
        return "–"
    for size, unit in ((86_400, say("unit.day")), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def markdown(text: str | None) -> Markup:
    """A reply as the forum will show it: no HTML and no image of the text's own becomes one of the page's."""
    # Rendered by markdown-it with HTML off; link addresses are checked by it.
    return Markup(_MARKDOWN.render(safe(text or "")))  # noqa: S704


_MARKDOWN = MarkdownIt("commonmark", {"html": False, "breaks": True}).disable("image")
