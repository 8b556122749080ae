"""The practice forum's pages: what somebody who is not logged in sees, and forms to write, edit and delete as anybody.

Only public topics and posts are shown. Everything works without a script; the one script fetches new posts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from flask import Blueprint, Response, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from demo.answers import answer
from demo.api import listed
from demo.emoji import EMOJI
from demo.forum_state import Enqueued
from demo.records import Post, Topic, User, seconds
from demo.rules import Refused, not_found, own_text
from demo.search import search
from demo.serialize import Shapes, avatar, plain
from demo.site import Site
from demo.visibility import can_see_post, can_see_topic

WORDING: Mapping[str, Mapping[str, str]] = yaml.safe_load(Path(__file__).with_name("wording.yml").read_text("utf-8"))
PAGE = 30
#: how long the page says that the bot is at work, and looks for its reply every two seconds
WAITING_S = 180.0
_MONTHS = {
    "en": "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(),
    "fr": "janv. févr. mars avril mai juin juil. août sept. oct. nov. déc.".split(),
}
_EMOJI_IMAGE = re.compile(r'<img src="/images/emoji/twitter/([^"]+)\.png\?v=12"[^>]*>')
View = Callable[..., str | BaseResponse]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A post as the template needs it."""

    post: Post
    user: User
    html: str
    parent: tuple[int, str] | None
    accepted: bool
    bot: bool
    url: str


class Pages:
    """The routes of the pages."""

    def __init__(self, site: Site) -> None:
        self.site, self.forum, self.store = site, site.forum, site.forum.store

    def blueprint(self) -> Blueprint:
        routes = Blueprint("pages", __name__)
        table: list[tuple[str, str, View]] = [
            ("/", "GET", self.index),
            ("/c/<slug>/<int:category_id>", "GET", self.index),
            ("/tag/<tag>", "GET", self.index),
            ("/search", "GET", self.search),
            ("/t/<int:topic_id>", "GET", self.topic),
            ("/t/<slug>/<int:topic_id>", "GET", self.topic),
            ("/t/<slug>/<int:topic_id>/<int:number>", "GET", self.topic),
            ("/t/<int:topic_id>/news", "GET", self.news),
            ("/t/<int:topic_id>/reply", "POST", self.reply),
            ("/new-topic", "GET POST", self.new_topic),
            ("/p/<int:post_id>", "GET", self.post),
            ("/p/<int:post_id>/moderate", "GET POST", self.moderate),
            ("/u/<username>", "GET", self.user),
            ("/groups/<name>", "GET", self.group),
            ("/letter_avatar_proxy/v4/letter/<letter>/<color>/<size>.png", "GET", self.avatar),
            ("/images/emoji/twitter/<name>.png", "GET", self.emoji),
            ("/uploads/<path:name>", "GET", self.picture),
        ]
        for path, methods, view in table:
            endpoint = f"{view.__name__}:{path}".replace(".", "-")
            routes.add_url_rule(path, endpoint, self._guarded(view), methods=methods.split())
        routes.app_context_processor(self._context)
        return routes

    def _guarded(self, view: View) -> View:
        def guarded(**where: Any) -> str | BaseResponse:
            if request.method == "POST" and not _from_here():
                return self.problem(403)
            try:
                page = view(**where)
            except Refused as refused:
                # a page does not tell a closed topic from none
                return self.problem(404 if refused.status in (403, 404) else refused.status)
            made = Response(page) if isinstance(page, str) else page
            if request.args.get("lang") in WORDING:
                made.set_cookie("lang", request.args["lang"], max_age=31_536_000, samesite="Lax")
            return made

        return guarded

    def _context(self) -> dict[str, Any]:
        language = _language()

        def say(key: str, **values: object) -> str:
            return WORDING[language][key].format(bot=self.site.bot, **values)

        return {
            "say": say,
            "language": language,
            "languages": {code: words["language"] for code, words in WORDING.items()},
            "site_title": self.store.title,
            "bot": self.site.bot,
            "day": lambda stamp: _day(stamp, language),
            "avatar": lambda user, size=48: avatar(user.username).replace("{size}", str(size)),
            "here": request.path,
            "query": {k: v for k, v in request.args.items() if k != "lang"},
        }

    def problem(self, status: int) -> Response:
        key = f"problem_{status}" if f"problem_{status}" in WORDING["en"] else "problem_other"
        return Response(render_template("problem.html", key=key), status)

    # -- reading

    def index(self, slug: str = "", category_id: int | None = None, tag: str = "") -> str:
        page = max(request.args.get("page", 0, int), 0)
        with self.store.lock:
            shapes = Shapes(self.forum, None)
            categories = shapes.categories()
            category = next((c for c in categories if c.id == category_id), None)
            if category_id is not None and category is None:
                raise not_found()
            below = {c.id for c in categories if c.parent_id == category_id} | {category_id}
            everything = listed(self.site, None)
            topics = [t for t in everything if category is None or t.category_id in below]
            topics = [t for t in topics if not tag or tag in t.tags]
            topics.sort(key=lambda t: (t.bumped_at, t.id), reverse=True)
            counts = {c.id: sum(t.category_id == c.id for t in everything) for c in categories}
            return render_template(
                "index.html",
                description=self.store.description,
                categories=categories,
                counts=counts,
                category=category,
                tag=tag,
                rows=self._rows(shapes, topics[page * PAGE : (page + 1) * PAGE]),
                page=page,
                more=len(topics) > (page + 1) * PAGE,
            )

    def _rows(self, shapes: Shapes, topics: list[Topic]) -> list[dict[str, Any]]:
        rows = []
        for topic in topics:
            posts = [p for p in shapes.visible_posts(topic) if not p.hidden]
            people = dict.fromkeys(p.user_id for p in reversed(posts))
            rows.append(
                {
                    "topic": topic,
                    "category": self.store.category_of(topic),
                    "replies": max(len(posts) - 1, 0),
                    "people": [shapes.user(n) for n in people][:4],
                    "author": shapes.user(topic.user_id),
                }
            )
        return rows

    def search(self) -> str:
        query = request.args.get("q", "").strip()[:200]
        with self.store.lock:
            shapes = Shapes(self.forum, None)
            ids = search(shapes, query)["grouped_search_result"]["post_ids"] if query else []
            hits = [
                {
                    "post": post,
                    "topic": self.store.topics[post.topic_id],
                    "user": shapes.user(post.user_id),
                    "text": _around(plain(post.cooked), query),
                }
                for post in (self.store.posts[n] for n in ids[:PAGE])
            ]
            return render_template("search.html", q=query, hits=hits)

    def topic(self, topic_id: int, slug: str = "", number: int | None = None) -> str | BaseResponse:
        with self.store.lock:
            topic = self._public_topic(topic_id)
            if slug != topic.slug:
                where = f"/t/{topic.slug}/{topic.id}" + (f"/{number}" if number else "")
                return redirect(f"{where}?{request.query_string.decode()}" if request.query_string else where)
            return self._topic_page(topic, number)

    def _topic_page(self, topic: Topic, number: int | None, *, error: str = "", raw: str | None = None) -> str:
        posts = self._posts(topic)
        numbers = {p.post.post_number for p in posts}
        reply_to = request.args.get("reply_to", 0, int)
        return render_template(
            "topic.html",
            topic=topic,
            category=self.store.category_of(topic),
            posts=posts,
            accepted=next((p for p in posts if p.accepted), None),
            target=number if number in numbers else None,
            missing=number if number and number not in numbers else None,
            waiting=self._waiting(posts),
            now=self.forum.now(),
            members=self._members(),
            member=request.form.get("member") or request.cookies.get("member", ""),
            parent=next((p for p in posts if p.post.post_number == reply_to), None),
            error=error,
            raw=f"@{self.site.bot} " if raw is None else raw,
        )

    def news(self, topic_id: int) -> Response:
        """New and changed posts of a topic since a moment, as JSON: {html, gone, now, waiting}."""
        since = request.args.get("since", "")
        with self.store.lock:
            topic, now = self._public_topic(topic_id), self.forum.now()
            posts = self._posts(topic)
            shown = {p.post.id for p in posts}
            html = [
                render_template("post.html", p=p, topic=topic, fresh=True)
                for p in posts
                if max(p.post.updated_at, p.post.created_at) >= since
            ]
            gone = [p.post_number for p in self.store.posts_of(topic.id) if p.id not in shown]
            return answer({"html": "".join(html), "gone": gone, "now": now, "waiting": self._waiting(posts)})

    def post(self, post_id: int) -> BaseResponse:
        return redirect(self._public_post(post_id)[2])

    def user(self, username: str) -> str:
        with self.store.lock:
            shapes, user = Shapes(self.forum, None), self.store.user_named(username)
            if user is None:
                raise not_found()
            posts = [p for p in shapes.public_posts() if p.user_id == user.id]
            posts.sort(key=lambda p: p.created_at, reverse=True)
            hits = [
                {
                    "post": p,
                    "topic": self.store.topics[p.topic_id],
                    "user": user,
                    "text": plain(p.cooked)[:200],
                }
                for p in posts[:PAGE]
            ]
            return render_template("user.html", user=user, hits=hits)

    def group(self, name: str) -> BaseResponse:
        return redirect("/")

    def _public_topic(self, topic_id: int) -> Topic:
        topic = self.store.topics.get(topic_id)
        if topic is None or not can_see_topic(None, topic, self.store.category_of(topic)):
            raise not_found()
        return topic

    def _public_post(self, post_id: int) -> tuple[Post, Topic, str]:
        with self.store.lock:
            post = self.store.posts.get(post_id)
            topic = self._public_topic(post.topic_id if post else 0)
            if post is None or post.hidden or not can_see_post(None, post, topic, self.store.category_of(topic)):
                raise not_found()
            return post, topic, _url(topic, post)

    def _posts(self, topic: Topic) -> list[Shown]:
        shapes = Shapes(self.forum, None)
        posts = [p for p in shapes.visible_posts(topic) if not p.hidden]
        names = {p.post_number: shapes.user(p.user_id).username for p in posts}
        return [
            Shown(
                post=p,
                user=shapes.user(p.user_id),
                html=_EMOJI_IMAGE.sub(_emoji, p.cooked),
                parent=(p.reply_to, names[p.reply_to]) if p.reply_to in names and p.reply_to is not None else None,
                accepted=topic.accepted_post_id == p.id,
                bot=names[p.post_number] == self.site.bot,
                url=_url(topic, p),
            )
            for p in posts
        ]

    def _waiting(self, posts: list[Shown]) -> bool:
        """Whether somebody has just asked the bot and it has not replied to that post."""
        now = self.forum.now_s()
        answered = {p.post.reply_to for p in posts if p.bot}
        return any(
            not p.bot
            and now - seconds(p.post.created_at) < WAITING_S
            and p.post.post_number not in answered
            and self._speaks_to_bot(p)
            for p in posts[-20:]
        )

    def _speaks_to_bot(self, shown: Shown) -> bool:
        names = {(a.text() or "").lower() for a in own_text(shown.post.cooked).css("a.mention")}
        return f"@{self.site.bot.lower()}" in names or bool(shown.parent and shown.parent[1] == self.site.bot)

    # -- writing

    def _members(self) -> list[User]:
        """Whom a visitor may write as: everybody but bots and people who have left."""
        users = [u for u in self.store.users.values() if u.id > 0 and not u.deleted and u.username != self.site.bot]
        return sorted(users, key=lambda u: (u.staff, u.trust_level == 0, u.username.lower()))

    def _writer(self) -> User:
        user = self.store.user_named(request.form.get("member", ""))
        if user is None or user not in self._members():
            raise Refused(422, "Choose a member.")
        return user

    def reply(self, topic_id: int) -> BaseResponse:
        raw = _text(request.form.get("raw", ""))
        with self.store.lock:
            topic = self._public_topic(topic_id)
            try:
                user = self._writer()
                reply_to = request.form.get("reply_to", 0, int) or None
                post = self.forum.create_post(user, raw, topic_id=topic.id, reply_to=reply_to)
            except Refused as refused:
                page = self._topic_page(topic, None, error=" ".join(refused.errors), raw=raw)
                return Response(page, refused.status)
            except Enqueued:
                return redirect(f"/t/{topic.slug}/{topic.id}")
            made = redirect(_url(topic, post) + f"#post_{post.post_number}")
        made.set_cookie("member", user.username, samesite="Lax")
        return made

    def new_topic(self) -> str | BaseResponse:
        error, form = "", request.form
        raw = _text(form.get("raw") or request.args.get("raw") or f"@{self.site.bot} ")
        with self.store.lock:
            categories = Shapes(self.forum, None).categories()
            if request.method == "POST":
                try:
                    user, wanted = self._writer(), form.get("category", 0, int)
                    if all(c.id != wanted for c in categories):
                        raise Refused(422, "Choose a category.")
                    title = _text(form.get("title", ""))
                    post = self.forum.create_post(user, raw, title=title, category=wanted)
                    made = redirect(_url(self.store.topics[post.topic_id], post))
                    made.set_cookie("member", user.username, samesite="Lax")
                    return made
                except Refused as refused:
                    error = " ".join(refused.errors)
                except Enqueued:
                    return redirect("/")
            page = render_template(
                "new_topic.html",
                categories=categories,
                members=self._members(),
                member=form.get("member") or request.cookies.get("member", ""),
                error=error,
                raw=raw,
                title=form.get("title", ""),
                chosen=form.get("category", 0, int) or request.args.get("category", 0, int),
            )
        return Response(page, 422) if error else page

    def moderate(self, post_id: int) -> str | BaseResponse:
        """Edit, delete, hide, accept as staff; of a post that is not public only its being there is told."""
        staff = next((u for u in self.store.users.values() if u.admin and u.id > 0), self.store.users[-1])
        error, done, action = "", "", request.form.get("action", "")
        with self.store.lock:
            post = self.store.posts.get(post_id)
            topic = self._public_topic(post.topic_id if post else 0)
            if post is None or not can_see_post(None, _as_if_public(post), topic, self.store.category_of(topic)):
                raise not_found()
            public = not (post.hidden or post.deleted_at)
            if request.method == "POST":
                try:
                    if action == "save" and public:
                        self.forum.edit_post(staff, post_id, _text(request.form.get("raw", "")))
                    elif action == "delete":
                        self.forum.delete_post(staff, post_id)
                    elif action == "hide":
                        self.forum.hide_post(staff, post_id)
                    elif action == "accept" and public:
                        self.forum.accept(staff, post_id)
                    elif action == "restore":
                        self._restore(staff, post)
                    done = action
                except Refused as refused:
                    error = " ".join(refused.errors)
                if not error and done in ("save", "accept"):
                    return redirect(_url(topic, post))
            post, topic = self.store.posts[post_id], self.store.topics[topic.id]
            public = not (post.hidden or post.deleted_at or topic.deleted_at)
            page = render_template(
                "moderate.html", post=post, topic=topic, public=public, done=done, error=error, url=_url(topic, post)
            )
        return Response(page, 422) if error else page

    def _restore(self, staff: User, post: Post) -> None:
        if post.hidden:
            self.forum.hide_post(staff, post.id, hidden=False)
        if post.deleted_at:
            self.forum.recover_post(staff, post.id)

    # -- pictures

    def avatar(self, letter: str, color: str, size: str) -> Response:
        fill = color if re.fullmatch(r"[0-9a-f]{6}", color) else "90a4ae"
        mark = letter[:1].upper() if letter[:1].isalnum() else "?"
        return _svg(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><rect width="48" height="48" fill="#{fill}"/>'
            f'<text x="24" y="33" font-family="sans-serif" font-size="26" fill="#fff" text-anchor="middle">{mark}'
            "</text></svg>"
        )

    def emoji(self, name: str) -> Response:
        if name not in EMOJI:
            raise not_found()
        return _svg(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><text x="16" y="26" font-size="26" '
            f'text-anchor="middle">{EMOJI[name]}</text></svg>'
        )

    def picture(self, name: str) -> Response:
        """The practice forum has no uploads: a grey card in their place."""
        return _svg(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 180"><rect width="320" height="180" '
            'fill="#9aa5ad"/><circle cx="236" cy="52" r="22" fill="#e8edf0"/><path d="M0 180 L110 70 L190 150 L230 '
            '110 L320 180 Z" fill="#6d7a83"/></svg>'
        )


def _url(topic: Topic, post: Post) -> str:
    return f"/t/{topic.slug}/{topic.id}/{post.post_number}"


def _as_if_public(post: Post) -> Post:
    """The post as it was before it was deleted: whispers and closed categories still do not pass."""
    return replace(post, deleted_at=None, hidden=False)


def _emoji(found: re.Match[str]) -> str:
    name = found[1]
    return f'<span class="emoji" role="img" aria-label="{name}">{EMOJI.get(name, "")}</span>'


def _language() -> str:
    """The language asked for by ?lang, the cookie, or the browser; else English."""
    for code in (request.args.get("lang", ""), request.cookies.get("lang", "")):
        if code in WORDING:
            return code
    return request.accept_languages.best_match(list(WORDING), "en") or "en"


def _day(stamp: str, language: str) -> str:
    year, month, day = stamp[:10].split("-")
    return f"{int(day)} {_MONTHS[language][int(month) - 1]} {year}"


def _around(text: str, query: str) -> str:
    """The part of a text around the first word of the query."""
    words = query.lower().split()
    at = min((p for w in words if (p := text.lower().find(w)) >= 0), default=0)
    start = max(at - 80, 0)
    return ("… " if start else "") + text[start : start + 240] + (" …" if len(text) > start + 240 else "")


def _text(raw: str) -> str:
    """A form's text: a browser ends lines with CR LF."""
    return raw.replace("\r\n", "\n").replace("\x00", "\ufffd")


def _from_here() -> bool:
    """Whether a form was sent by one of our own pages and not by another site."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.headers.get("Origin") or request.headers.get("Referer")
    return origin is None or urlsplit(origin).netloc == request.host


def _svg(content: str) -> Response:
    return Response(content, content_type="image/svg+xml", headers={"Cache-Control": "max-age=86400"})
