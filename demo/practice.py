"""Routes of the practice forum that Discourse does not have: tell it to fail, approve, moderate, redeliver.

They take JSON only, so that no other web page can send them from a browser.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any

from flask import Blueprint, Response, request

from demo.answers import answer, refusal
from demo.faults import KINDS, ROUTES
from demo.records import Post, User
from demo.rules import Refused
from demo.serialize import Shapes
from demo.site import Site

#: operation -> its arguments besides `as` (the member who does it, the system when absent)
OPERATIONS: dict[str, tuple[str, ...]] = {
    "create_post": ("raw", "topic_id", "reply_to", "whisper", "title", "category", "tags", "archetype", "recipients")
    + ("created_at", "skip_validations"),
    "edit_post": ("post_id", "raw", "reason", "original_text"),
    "delete_post": ("post_id",),
    "recover_post": ("post_id",),
    "hide_post": ("post_id", "hidden"),
    "move_posts": ("post_ids", "topic_id"),
    "merge_topic": ("topic_id", "into"),
    "edit_topic": ("topic_id", "title", "category_id", "tags"),
    "set_status": ("topic_id", "status", "enabled"),
    "delete_topic": ("topic_id",),
    "recover_topic": ("topic_id",),
    "restrict_category": ("category_id", "groups"),
    "delete_user": ("user_id",),
    "anonymise": ("user_id",),
    "accept": ("post_id", "accepted"),
    "like": ("post_id", "liked"),
    "approve": ("pending_id",),
    "reject": ("pending_id",),
}


def practice(site: Site) -> Blueprint:
    routes = Blueprint("practice", __name__, url_prefix="/practice")
    system = site.forum.store.users[-1]

    def given() -> Mapping[str, Any]:
        content = request.get_json(silent=True) if request.is_json else None
        if not isinstance(content, dict):
            raise Refused(400, "a JSON object is expected", error_type="invalid_parameters")
        return content

    def route(path: str, methods: str) -> Callable[[Callable[[], Any]], None]:
        def add(work: Callable[[], Any]) -> None:
            def guarded() -> Response:
                try:
                    return answer(work())
                except Refused as refused:
                    return refusal(refused)
                except (TypeError, ValueError, KeyError) as error:
                    return refusal(Refused(400, f"{error}", error_type="invalid_parameters"))

            routes.add_url_rule(path, f"{path} {methods}", guarded, methods=methods.split())

        return add

    @route("/faults", "POST")
    def _add_fault() -> Any:
        return asdict(site.faults.add(given()))

    @route("/faults", "GET")
    def _faults() -> Any:
        return {"faults": site.faults.listing(), "kinds": KINDS, "routes": ROUTES}

    @route("/faults", "DELETE")
    def _clear_faults() -> Any:
        site.faults.clear()
        return {"faults": []}

    @route("/do", "POST")
    def _do() -> Any:
        """{"do": operation, "as": member, ...its arguments} -> the row that came of it."""
        wish = dict(given())
        name, actor = str(wish.pop("do", "")), _actor(wish.pop("as", None))
        unknown = set(wish) - set(OPERATIONS.get(name, ()))
        if name not in OPERATIONS or unknown:
            raise ValueError(f"unknown {'argument ' + min(unknown) if name in OPERATIONS else 'operation ' + name}")
        return _row(site, getattr(site.forum, name)(actor, **wish))

    @route("/approve", "POST")
    def _approve() -> Any:
        """Approves {"pending_id": n}, or all that wait."""
        with site.forum.store.lock:
            waiting = [p.id for p in site.forum.store.pending.values() if not (p.post_id or p.rejected)]
            wanted = [int(given()["pending_id"])] if "pending_id" in given() else waiting
            return {"approved": [_row(site, site.forum.approve(system, number)) for number in wanted]}

    @route("/pending", "GET")
    def _pending() -> Any:
        with site.forum.store.lock:
            return {"pending": [asdict(p) for p in site.forum.store.pending.values()]}

    @route("/settings", "GET PUT")
    def _settings() -> Any:
        if request.method == "PUT":
            known = {f.name for f in fields(site.forum.settings)}
            if set(given()) - known:
                raise ValueError(f"unknown setting {min(set(given()) - known)}; there are {', '.join(sorted(known))}")
            site.forum.settings = replace(site.forum.settings, **given())
        return asdict(site.forum.settings)

    @route("/deliveries", "GET")
    def _deliveries() -> Any:
        return {"deliveries": site.webhooks.deliveries()}

    @route("/redeliver", "POST")
    def _redeliver() -> Any:
        """{"event_id": n}, or {} for all that failed."""
        event_id = given().get("event_id")
        return {"sent": site.webhooks.redeliver(None if event_id is None else int(event_id))}

    @route("/ping", "POST")
    def _ping() -> Any:
        site.webhooks.ping()
        return {"sent": len(site.webhooks.hooks)}

    def _actor(name: object) -> User:
        user = system if name is None else site.forum.store.user_named(str(name))
        if user is None:
            raise ValueError(f"nobody is called {name}")
        return user

    return routes


def _row(site: Site, made: Any) -> Any:
    """What an operation made: a post as the API shows it to staff, anything else as the forum keeps it."""
    if isinstance(made, list):
        return [_row(site, one) for one in made]
    if isinstance(made, Post):
        with site.forum.store.lock:
            return Shapes(site.forum, site.forum.store.users[-1]).created(made)
    return {} if made is None else asdict(made)
