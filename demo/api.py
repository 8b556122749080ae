"""The part of Discourse's HTTP API that Threadcite and pydiscourse use, with Discourse's own shapes and refusals."""

from __future__ import annotations

import functools
import hashlib
import threading
from collections.abc import Callable, Mapping
from typing import Any, cast

from flask import Blueprint, Response, request

from demo.answers import after, answer, before, refusal, too_many
from demo.faults import Fault
from demo.forum_state import Enqueued
from demo.records import Topic, User
from demo.rules import Refused, not_found, own_text
from demo.search import search
from demo.serialize import Shapes
from demo.site import Site
from demo.site_json import site_json, user_json
from demo.visibility import can_see_topic

Call = Callable[..., Response]
PAGE, POSTS_PAGE, RAW_PAGE = 20, 50, 100


class Api:
    """The routes, each a method; `who` and `shapes` are the reader of the present request."""

    def __init__(self, site: Site) -> None:
        self.site, self.forum, self.store = site, site.forum, site.forum.store
        self._memo: dict[str, tuple[float, Response]] = {}
        self._memo_locks: dict[str, threading.Lock] = {}

    def blueprint(self) -> Blueprint:
        routes = Blueprint("api", __name__)
        for methods, paths, name, call in self._table():
            for path in paths.split():
                endpoint = f"{name}:{methods}:{path}".replace(".", "-")
                routes.add_url_rule(path, endpoint, self._guarded(name, call), methods=methods.split())
        return routes

    def _table(self) -> list[tuple[str, str, str, Call]]:
        return [
            ("POST", "/posts.json /posts", "posts.create", self.create),
            ("GET", "/posts.json", "posts.latest", self.latest_posts),
            ("GET", "/posts/<int:post_id>.json /posts/<int:post_id>", "posts.get", self.get_post),
            ("PUT", "/posts/<int:post_id>.json /posts/<int:post_id>", "posts.update", self.update),
            ("DELETE", "/posts/<int:post_id>.json /posts/<int:post_id>", "posts.delete", self.delete),
            ("PUT", "/posts/<int:post_id>/recover.json /posts/<int:post_id>/recover", "posts.delete", self.recover),
            ("GET", "/posts/<int:post_id>/replies.json", "posts.replies", self.replies),
            (
                "GET",
                "/posts/by_number/<int:topic_id>/<int:number>.json /posts/by_number/<int:topic_id>/<int:number>",
                "posts.by_number",
                self.by_number,
            ),
            ("GET", "/t/<int:topic_id>.json /t/<slug>/<int:topic_id>.json", "topics.get", self.topic),
            (
                "GET",
                "/t/<int:topic_id>/<int:number>.json /t/<slug>/<int:topic_id>/<int:number>.json",
                "topics.get",
                self.topic,
            ),
            ("GET", "/t/<int:topic_id>/posts.json", "topics.posts", self.topic_posts),
            ("PUT", "/t/-/<int:topic_id>.json /t/<int:topic_id>.json", "topics.update", self.update_topic),
            ("PUT", "/t/<int:topic_id>/status.json /t/<int:topic_id>/status", "topics.status", self.status),
            ("DELETE", "/t/<int:topic_id>.json /t/<int:topic_id>", "topics.update", self.delete_topic),
            ("PUT", "/t/<int:topic_id>/recover.json /t/<int:topic_id>/recover", "topics.update", self.recover_topic),
            ("GET", "/raw/<int:topic_id>/<int:number>", "raw", self.raw_post),
            ("GET", "/raw/<int:topic_id>", "raw", self.raw_topic),
            ("GET", "/latest.json", "topics.latest", self.latest),
            ("GET", "/c/<int:category_id>/show.json", "categories", self.category),
            (
                "GET",
                "/c/<int:category_id>.json /c/<slug>/<int:category_id>.json /c/<slug>/<int:category_id>/l/latest.json",
                "topics.latest",
                self.latest,
            ),
            ("GET", "/categories.json", "categories", self.categories),
            ("GET", "/site.json", "site", self.site_info),
            ("GET", "/site/basic-info.json", "site", self.basic_info),
            ("GET", "/session/current.json", "session", self.session),
            ("GET", "/notifications.json", "notifications", self.notifications),
            ("PUT", "/notifications/mark-read.json /notifications/mark-read", "notifications", self.mark_read),
            ("GET", "/search.json", "search", self.search),
            ("GET", "/u/<username>.json /users/<username>.json", "users", self.user),
            ("GET", "/tags.json", "tags", self.tags),
            ("POST", "/post_actions.json /post_actions", "likes", self.like),
            ("POST", "/solution/accept.json /solution/accept", "solution", self.accept),
            ("POST", "/solution/unaccept.json /solution/unaccept", "solution", self.unaccept),
        ]

    def _guarded(self, name: str, call: Call) -> Call:
        """The call with what every route has: who asks, the limit, the faults, the errors' shape."""

        @functools.wraps(call)
        def guarded(**where: Any) -> Response:
            action = "create_post" if name == "posts.create" else None
            try:
                who = self.site.viewer(request)
                wait = self.site.over_limit() if who else None
                if wait:
                    return too_many(wait, "admin_api_key_rate_limit")
                fault = self.site.faults.take(name, user=who.username if who else None)
                early = before(fault, self.site.faults) if fault else None
                if early is not None:
                    return early
                extra = {"fault": fault} if name == "posts.create" else {}
                done = call(who, **where, **extra)
                return after(fault, self.site.faults, done) if fault else done
            except Refused as refused:
                return refusal(refused, action=action)

        return guarded

    # -- posts

    def create(self, who: User | None, fault: Fault | None) -> Response:
        actor, given = _login(who), _params()
        lock, key = self._memo_key(actor, given)
        with lock:
            now = self.forum.now_s()
            for old, (at, _) in self._memo.copy().items():
                if at < now - self.forum.settings.post_memo_seconds:
                    self._memo.pop(old, None)
            kept = self._memo.get(key)
            if kept:
                return _copy(kept[1])
            made = self._create(actor, given, fault)
            self._memo[key] = (now, made)
            return _copy(made)

    def _memo_key(self, actor: User, given: Mapping[str, Any]) -> tuple[threading.Lock, str]:
        """Discourse's memo: all arguments, the address, the user agent, the referrer, and the member."""
        origin = (request.remote_addr, request.user_agent.string, request.referrer)
        text = repr((sorted((k, repr(v)) for k, v in given.items()), origin))
        key = f"{hashlib.sha1(text.encode('utf-8', 'replace'), usedforsecurity=False).hexdigest()}:{actor.id}"
        with self.site.lock:
            if len(self._memo_locks) > 10_000:
                self._memo_locks.clear()
            return self._memo_locks.setdefault(key, threading.Lock()), key

    def _create(self, actor: User, given: Mapping[str, Any], fault: Fault | None) -> Response:
        kind = fault.kind if fault else ""
        try:
            raw = _text(given.get("raw"))
            if not raw:
                raise Refused(400, "param is missing or the value is empty: raw", error_type="invalid_parameters")
            if fault is not None and kind == "422-new-user-links":
                self._new_user(raw, fault)
            post = self.forum.create_post(
                actor,
                raw,
                enqueue=kind == "enqueued",
                topic_id=_number(given.get("topic_id")),
                reply_to=_number(given.get("reply_to_post_number")),
                whisper=_flag(given.get("whisper")),
                title=_text(given.get("title")),
                category=_number(given.get("category")),
                tags=[str(t) for t in _list(given, "tags")],
                archetype=str(given.get("archetype") or "regular"),
                recipients=_names(given.get("target_recipients") or given.get("target_usernames")),
                skip_validations=_flag(given.get("skip_validations")),
            )
        except Enqueued as waiting:
            count = sum(not (p.post_id or p.rejected) for p in self.store.pending.values())
            body = {"action": "enqueued", "success": True, "pending_count": count, "reason": waiting.reason}
            return answer({**body, "pending_post": {"id": waiting.pending.id, "raw": waiting.pending.args["raw"]}})
        except Refused as refused:
            return refusal(refused, action="create_post")
        with self.store.lock:
            shape = Shapes(self.forum, actor).created(post)
        nested = _flag(given.get("nested_post"))
        return answer({"success": True, "action": "create_post", "post": shape} if nested else shape)

    def _new_user(self, raw: str, fault: Fault) -> None:
        """The refusal that a new member meets, if this text has too many links, images or mentions."""
        what, most = str(fault.params.get("of", "links")), int(fault.params.get("max", 2))
        tree = own_text(self.store.cook(raw, None))
        selector = {"links": "a[href]:not(.mention)", "images": "img:not(.emoji)", "mentions": ".mention"}[what]
        if len(tree.css(selector)) <= most:
            self.site.faults.give_back(fault)
            return
        said = {
            "links": f"Sorry, new users can only put {most} links in a post.",
            "images": f"Sorry, new users can only put {most} embedded media items in a post.",
            "mentions": f"Sorry, new users can only mention {most} other users in a post.",
        }
        raise Refused(422, said[what])

    def latest_posts(self, who: User | None) -> Response:
        limit = _number(request.args.get("before"))
        with self.store.lock:
            shapes = Shapes(self.forum, who)
            posts = sorted(shapes.public_posts(), key=lambda p: -p.id)
            page = [p for p in posts if limit is None or p.id < limit][:POSTS_PAGE]
            return answer({"latest_posts": [shapes.latest_post(p) for p in page]})

    def get_post(self, who: User | None, post_id: int) -> Response:
        with self.store.lock:
            return answer(Shapes(self.forum, who).post(self.forum.post(who, post_id), raw=True))

    def by_number(self, who: User | None, topic_id: int, number: int) -> Response:
        with self.store.lock:
            post = self.store.post_numbered(self.forum.topic(who, topic_id).id, number)
            if post is None:
                raise not_found()
            return answer(Shapes(self.forum, who).post(self.forum.post(who, post.id), raw=True))

    def update(self, who: User | None, post_id: int) -> Response:
        given = _params()
        nested = given.get("post")
        change: Mapping[str, Any] = nested if isinstance(nested, dict) else _nested(given, "post")
        raw = _text(change.get("raw"))
        if not raw:
            raise Refused(400, "param is missing or the value is empty: post", error_type="invalid_parameters")
        original = change.get("original_text")
        post = self.forum.edit_post(
            _login(who),
            post_id,
            raw,
            reason=_text(change.get("edit_reason")),
            original_text=None if original is None else str(original),
        )
        with self.store.lock:
            return answer(Shapes(self.forum, who).updated(post))

    def delete(self, who: User | None, post_id: int) -> Response:
        self.forum.delete_post(_login(who), post_id)
        return Response("", 200, content_type="text/plain; charset=utf-8")

    def recover(self, who: User | None, post_id: int) -> Response:
        post = self.forum.recover_post(_login(who), post_id)
        with self.store.lock:
            return answer(Shapes(self.forum, who).post(post, raw=True))

    def replies(self, who: User | None, post_id: int) -> Response:
        past = _number(request.args.get("after")) or 0
        with self.store.lock:
            post = self.forum.post(who, post_id)
            shapes = Shapes(self.forum, who)
            found = [
                p
                for p in shapes.visible_posts(self.store.topics[post.topic_id])
                if p.reply_to == post.post_number and p.post_number > past
            ]
            return answer([shapes.reply(p) for p in found[:PAGE]])

    # -- topics

    def topic(self, who: User | None, topic_id: int, slug: str = "", number: int | None = None) -> Response:
        with self.store.lock:
            topic, shapes = self.forum.topic(who, topic_id), Shapes(self.forum, who)
            posts = shapes.visible_posts(topic)
            size = 1000 if _flag(request.args.get("print")) else PAGE
            start = (max(_number(request.args.get("page")) or 1, 1) - 1) * size
            if number is not None:
                at = next((n for n, p in enumerate(posts) if p.post_number >= number), len(posts))
                start = max(at - PAGE // 4, 0)
            page = posts[start : start + size]
            if not page and start:
                raise not_found()
            raw = _flag(request.args.get("include_raw"))
            return answer(shapes.topic(topic, posts=page, raw=raw, current=number))

    def topic_posts(self, who: User | None, topic_id: int) -> Response:
        given = request.get_json(silent=True) or {}
        wanted = request.args.getlist("post_ids[]") or request.args.getlist("post_ids") or given.get("post_ids[]")
        with self.store.lock:
            topic, shapes = self.forum.topic(who, topic_id), Shapes(self.forum, who)
            posts = shapes.visible_posts(topic)
            ids = {_number(n) for n in (wanted if isinstance(wanted, list) else [wanted])} if wanted else None
            page = posts[:PAGE] if ids is None else [p for p in posts if p.id in ids]
            raw = _flag(request.args.get("include_raw"))
            stream = [shapes.stream_post(p, raw=raw) for p in page]
            return answer({"post_stream": {"posts": stream}, "id": topic.id})

    def update_topic(self, who: User | None, topic_id: int) -> Response:
        given, changes = _params(), dict[str, Any]()
        if _text(given.get("title")):
            changes["title"] = _text(given.get("title"))
        if _number(given.get("category_id")):
            changes["category_id"] = _number(given.get("category_id"))
        if "tags" in given or "tags[]" in given:
            changes["tags"] = [str(t) for t in _list(given, "tags") if t]
        topic = self.forum.edit_topic(_login(who), topic_id, **changes)
        with self.store.lock:
            row = Shapes(self.forum, who).topic_row(topic)
        return answer({"basic_topic": {k: row[k] for k in ("id", "title", "fancy_title", "slug", "posts_count")}})

    def status(self, who: User | None, topic_id: int) -> Response:
        given = _params()
        self.forum.set_status(_login(who), topic_id, str(given.get("status")), _flag(given.get("enabled")))
        return answer({"success": "OK", "topic_status_update": None})

    def delete_topic(self, who: User | None, topic_id: int) -> Response:
        self.forum.delete_topic(_login(who), topic_id)
        return Response("", 200, content_type="text/plain; charset=utf-8")

    def recover_topic(self, who: User | None, topic_id: int) -> Response:
        self.forum.recover_topic(_login(who), topic_id)
        return answer({"success": "OK"})

    def raw_post(self, who: User | None, topic_id: int, number: int) -> Response:
        with self.store.lock:
            post = self.store.post_numbered(self.forum.topic(who, topic_id).id, number)
            text = Shapes(self.forum, who).post(self.forum.post(who, post.id), raw=True).get("raw") if post else None
            if text is None:
                raise not_found()
            return Response(text, content_type="text/plain; charset=utf-8")

    def raw_topic(self, who: User | None, topic_id: int) -> Response:
        start = (max(_number(request.args.get("page")) or 1, 1) - 1) * RAW_PAGE
        with self.store.lock:
            shapes = Shapes(self.forum, who)
            posts = shapes.visible_posts(self.forum.topic(who, topic_id))[start : start + RAW_PAGE]
            parts = [
                f"{shapes.user(p.user_id).username} | {p.updated_at[:19].replace('T', ' ')} UTC | #{p.post_number}\n\n"
                f"{shapes.post(p, raw=True).get('raw', '')}\n\n-------------------------\n\n"
                for p in posts
            ]
        return Response("".join(parts), content_type="text/plain; charset=utf-8")

    def latest(self, who: User | None, category_id: int | None = None, slug: str = "") -> Response:
        size = min(max(_number(request.args.get("per_page")) or 30, 1), 100)
        page = max(_number(request.args.get("page")) or 0, 0)
        key = "created_at" if request.args.get("order") == "created" else "bumped_at"
        with self.store.lock:
            topics = [t for t in listed(self.site, who) if category_id in (None, t.category_id)]
            topics.sort(key=lambda t: (getattr(t, key), t.id), reverse=not _flag(request.args.get("ascending")))
            rows = topics[page * size : (page + 1) * size]
            more = f"/latest?page={page + 1}" if len(topics) > (page + 1) * size else None
            return answer(Shapes(self.forum, who).topic_list(rows, more, size))

    # -- the site

    def category(self, who: User | None, category_id: int) -> Response:
        with self.store.lock:
            shapes = Shapes(self.forum, who)
            found = next((c for c in shapes.categories() if c.id == category_id), None)
            if found is None:
                raise not_found()
            return answer({"category": shapes.category_detail(found)})

    def categories(self, who: User | None) -> Response:
        children = _flag(request.args.get("include_subcategories"))
        with self.store.lock:
            shapes = Shapes(self.forum, who)
            rows = [shapes.category_row(c, children=children) for c in shapes.categories() if c.parent_id is None]
            able = {"can_create_category": False, "can_create_topic": who is not None}
            return answer({"category_list": {**able, "categories": rows}})

    def site_info(self, who: User | None) -> Response:
        with self.store.lock:
            return answer(site_json(Shapes(self.forum, who)))

    def basic_info(self, who: User | None) -> Response:
        empty = dict.fromkeys(("logo_url", "logo_small_url", "apple_touch_icon_url", "favicon_url"), "")
        colors = {"header_primary_color": "333333", "header_background_color": "ffffff"}
        text = {"title": self.store.title, "description": self.store.description, "locale": "en"}
        flags = {"login_required": False, "include_in_discourse_discover": False}
        return answer({**empty, **text, **colors, **flags, "mobile_logo_url": ""})

    def session(self, who: User | None) -> Response:
        if who is None:
            raise not_found()
        with self.store.lock:
            return answer({"current_user": Shapes(self.forum, who).current_user(who)})

    def notifications(self, who: User | None) -> Response:
        user, offset = _login(who), _number(request.args.get("offset")) or 0
        size = min(max(_number(request.args.get("limit")) or 60, 1), 60)
        with self.store.lock:
            inbox, shapes = self.store.inbox(user.id), Shapes(self.forum, user)
            rows = [shapes.notification(n) for n in inbox[offset : offset + size]]
        return answer(
            {
                "notifications": rows,
                "total_rows_notifications": len(inbox),
                "seen_notification_id": max((n.id for n in inbox if n.read), default=0),
                "load_more_notifications": f"/notifications?offset={offset + size}&username={user.username}",
            }
        )

    def mark_read(self, who: User | None) -> Response:
        self.forum.mark_read(_login(who), _number(_params().get("id")))
        return answer({"success": "OK"})

    def search(self, who: User | None) -> Response:
        with self.store.lock:
            return answer(search(Shapes(self.forum, who), request.args.get("q", "")))

    def user(self, who: User | None, username: str) -> Response:
        with self.store.lock:
            user = self.store.user_named(username)
            if user is None:
                raise not_found()
            return answer(user_json(Shapes(self.forum, who), user))

    def tags(self, who: User | None) -> Response:
        with self.store.lock:
            counts: dict[str, int] = {}
            for tag in (tag for t in listed(self.site, who) for tag in t.tags):
                counts[tag] = counts.get(tag, 0) + 1
        rows = [
            {"id": n, "text": tag, "name": tag, "count": counts[tag], "pm_count": 0, "target_tag": None}
            for n, tag in enumerate(sorted(counts), 1)
        ]
        return answer({"tags": rows, "extras": {"categories": []}})

    def like(self, who: User | None) -> Response:
        given = _params()
        if _number(given.get("post_action_type_id")) != 2:
            raise Refused(400, "only likes (2) are known here", error_type="invalid_parameters")
        post = self.forum.like(_login(who), _number(given.get("id")) or 0)
        with self.store.lock:
            return answer(Shapes(self.forum, who).post(post))

    def accept(self, who: User | None) -> Response:
        return self._accept(who, True)

    def unaccept(self, who: User | None) -> Response:
        return self._accept(who, False)

    def _accept(self, who: User | None, accepted: bool) -> Response:
        self.forum.accept(_login(who), _number(_params().get("id")) or 0, accepted)
        return answer({"success": "OK"})


def listed(site: Site, who: User | None) -> list[Topic]:
    """The topics that stand in the reader's lists."""
    store = site.forum.store
    return [
        t
        for t in store.topics.values()
        if t.visible and not (t.private or t.deleted_at) and can_see_topic(who, t, store.category_of(t))
    ]


# -- reading the request


def _login(who: User | None) -> User:
    if who is None:
        raise Refused(403, "You need to be logged in to do that.", error_type="not_logged_in")
    return who


def _params() -> Mapping[str, Any]:
    """The arguments of a JSON or a form body; both are taken, as by Discourse."""
    if request.is_json:
        given = request.get_json(silent=True)
        if not isinstance(given, dict):
            raise Refused(400, "a JSON object is expected", error_type="invalid_parameters")
        return cast(Mapping[str, Any], given)
    form = {k: v if k.endswith("[]") and len(v) > 1 else v[0] for k, v in request.form.lists()}
    return {**request.args.to_dict(), **form}


def _nested(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """`post[raw]=..` of a form as {"raw": ..}."""
    return {k[len(name) + 1 : -1]: v for k, v in given.items() if k.startswith(f"{name}[") and k.endswith("]")}


def _text(value: Any) -> str | None:
    """A string that can be stored: no NUL, no half of a surrogate pair."""
    if value is None or isinstance(value, (dict, list)):
        return None
    return "".join("\ufffd" if c == "\x00" or "\ud800" <= c <= "\udfff" else c for c in str(value))


def _number(value: Any) -> int | None:
    try:
        return int(value) if value not in (None, "") and abs(int(value)) < 2**53 else None
    except (TypeError, ValueError, OverflowError):
        return None


def _flag(value: Any) -> bool:
    return value is True or str(value).lower() in ("true", "1", "t")


def _list(given: Mapping[str, Any], name: str) -> list[Any]:
    value = given.get(name, given.get(f"{name}[]"))
    return value if isinstance(value, list) else [value] if value else []


def _names(value: Any) -> list[str]:
    return [n.strip() for n in str(value).split(",") if n.strip()] if value else []


def _copy(response: Response) -> Response:
    return Response(response.get_data(), response.status_code, headers=list(response.headers))
