"""Discourse's REST API as the bot's account; each failure says what it means for the operator."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, ParamSpec, TypeVar
from urllib.parse import quote

import httpx
import stamina

from clients.address import is_nearby
from clients.breaker import Breaker
from clients.discourse_errors import SERVICE as _SERVICE
from clients.discourse_errors import refusal
from clients.discourse_json import read_category, read_post, read_source_post, read_topic
from clients.pace import Pace
from clients.secrets import Secret
from forum.config import ForumSection
from forum.errors import OutcomeUnknown, RemoteRefused, RemoteUnavailable
from forum.ports import Created
from forum.types import Category, Post, SourcePost, Topic

# A line for every request, at the level that others use for news.
logging.getLogger("httpx").setLevel(logging.WARNING)

P = ParamSpec("P")
T = TypeVar("T")

#: A read waits this long in place; a longer wait is the caller's business.
_PATIENCE_S = 5.0
_CHUNK = 20


class DiscourseClient:
    """The part of Discourse's API that we use; without a key, as an anonymous reader.

    Reads are tried three times. A write is sent once: only the caller knows whether it may be sent again.
    Raises RemoteUnavailable (with the forum's own wish for a pause), OutcomeUnknown (a write whose answer was lost)
    or RemoteRefused.
    """

    def __init__(
        self,
        section: ForumSection,
        *,
        key: Secret | None = None,
        transport: httpx.BaseTransport | None = None,
        breaker: Breaker | None = None,
        attempts: int = 3,
    ) -> None:
        headers = {"User-Agent": "Threadcite", "Accept": "application/json"}
        if key:
            headers |= {"Api-Key": key.reveal(), "Api-Username": section.bot_username}
        self._section = section
        #: Instead of the bot's own account.
        self._username = ""
        self._attempts = attempts
        self._breaker = breaker or Breaker(_SERVICE)
        self._pace = Pace(section.requests_per_minute)
        self._http = httpx.Client(
            base_url=section.base_url,
            headers=headers,
            timeout=httpx.Timeout(section.timeout_s, connect=min(section.timeout_s, 5.0)),
            transport=transport,
            # A proxy meant for the internet must not stand between us and a forum next door.
            trust_env=not is_nearby(section.base_url),
        )

    def close(self) -> None:
        self._http.close()

    def acting_as(self, username: str) -> DiscourseClient:
        """Shares connection, pace and breaker; the key must be one for all users, else the forum refuses."""
        if not username or username == self._section.bot_username:
            return self
        other = copy(self)
        other._username = username
        return other

    def post(self, post_id: int) -> SourcePost:
        return _read(read_source_post, self._get(f"/posts/{post_id}.json"))

    def topic(self, topic_id: int) -> Topic:
        return _read(read_topic, self._get(f"/t/{topic_id}.json"))

    def topic_posts(self, topic_id: int, post_ids: Sequence[int] | None = None) -> list[SourcePost]:
        """The posts with these ids, or all of the topic, with their raw text."""
        page = self._get(f"/t/{topic_id}.json", include_raw="true")
        topic = _read(read_topic, page)
        stream = _record(page.get("post_stream"))
        everything = stream.get("stream")
        if post_ids is None:
            post_ids = everything if isinstance(everything, list) else []
        wanted = [post_id for post_id in post_ids if isinstance(post_id, int)]
        found = {post.get("id"): post for post in _records(stream.get("posts"))}
        missing = [post_id for post_id in wanted if post_id not in found]
        for start in range(0, len(missing), _CHUNK):
            chunk = missing[start : start + _CHUNK]
            part = self._get(f"/t/{topic_id}/posts.json", **{"post_ids[]": chunk, "include_raw": "true"})
            found |= {post.get("id"): post for post in _records(_record(part.get("post_stream")).get("posts"))}
        return [_read(read_source_post, found[post_id], topic) for post_id in wanted if post_id in found]

    def latest_posts(self, before: int | None = None) -> list[SourcePost]:
        page = self._get("/posts.json", **({"before": before} if before is not None else {}))
        return [_read(read_source_post, post) for post in _records(page.get("latest_posts"))]

    def categories(self, *, opened: Collection[int] = ()) -> list[Category]:
        """All that the key's user sees; the groups that may read them only of `opened`: a request each."""
        told = [_read(read_category, record) for record in _records(self._get("/site.json").get("categories"))]
        return [
            replace(one, group_ids=self.readers(one.id)) if one.read_restricted and one.id in opened else one
            for one in told
        ]

    def topic_list(self, page: int) -> tuple[list[Topic], bool]:
        """Page `page` (from 0) of the visible topics, newest first, with tags; and whether more follow."""
        answer = _record(self._get("/latest.json", order="created", page=page).get("topic_list"))
        topics = [_read(read_topic, record) for record in _records(answer.get("topics"))]
        return topics, bool(topics) and isinstance(answer.get("more_topics_url"), str)

    def readers(self, category_id: int) -> frozenset[int]:
        """Ids of the groups that may read a category; empty when the forum does not tell."""
        try:
            detail = _record(self._get(f"/c/{category_id}/show.json").get("category"))
        except RemoteRefused:
            return frozenset()
        ids = (record.get("group_id") for record in _records(detail.get("group_permissions")))
        return frozenset(one for one in ids if isinstance(one, int))

    def standing(self, username: str) -> tuple[int | None, bool]:
        """An account's trust level, None where the forum does not tell, and whether it is of the staff."""
        user = _record(self._get(f"/u/{quote(username, safe='')}.json").get("user"))
        level = user.get("trust_level")
        return (level if isinstance(level, int) else None), bool(user.get("admin") or user.get("moderator"))

    def clock(self) -> datetime | None:
        """What time the forum has, from its answer's Date; None where it sends none."""
        said = self._send("GET", "/site/basic-info.json").headers.get("Date")
        return parsedate_to_datetime(said) if said else None

    def replies(self, post_id: int) -> list[Post]:
        """The direct replies to a post, at most the first 200."""
        found: list[Post] = []
        for _ in range(10):
            after = {"after": found[-1].post_number} if found else {}
            page = [
                _read(read_post, record) for record in _records(self._fetch(f"/posts/{post_id}/replies.json", **after))
            ]
            new = [post for post in page if not found or post.post_number > found[-1].post_number]
            found += new
            if len(new) < _CHUNK:
                break
        return found

    def first_post(self, topic_id: int) -> SourcePost | None:
        """The post that opens the topic."""
        page = self._get(f"/t/{topic_id}.json", include_raw="true")
        posts = _records(_record(page.get("post_stream")).get("posts"))
        topic = _read(read_topic, page)
        return next((_read(read_source_post, post, topic) for post in posts if post.get("post_number") == 1), None)

    def last_posts(self, topic_id: int) -> list[SourcePost]:
        """The newest twenty posts of a topic, as its own list of them says."""
        stream = _record(self._get(f"/t/{topic_id}.json").get("post_stream")).get("stream")
        ids = [post_id for post_id in stream if isinstance(post_id, int)] if isinstance(stream, list) else []
        return self.topic_posts(topic_id, ids[-_CHUNK:])

    def create_post(
        self, *, topic_id: int, raw: str, reply_to_post_number: int | None = None, whisper: bool = False
    ) -> Created:
        body: dict[str, Any] = {"topic_id": topic_id, "raw": raw, "auto_track": False}
        if reply_to_post_number is not None:
            body["reply_to_post_number"] = reply_to_post_number
        if whisper:
            body["whisper"] = True
        answer = self._write("POST", "/posts.json", body, "reply in this topic")
        if answer.get("action") == "enqueued":
            return Created(post=None, enqueued=True)
        return Created(post=_written(answer.get("post") or answer))

    def create_topic(self, *, title: str, raw: str, category_id: int) -> int | None:
        """The new topic's id; None when it waits for approval."""
        body = {"title": title, "raw": raw, "category": category_id, "auto_track": False}
        answer = self._write("POST", "/posts.json", body, "open a topic in this category")
        if answer.get("action") == "enqueued":
            return None
        return _written(answer.get("post") or answer).topic_id

    def edit_post(self, post_id: int, *, raw: str, reason: str = "", original: str | None = None) -> Post:
        """Replace a post's text. With `original`, refused (409) when somebody else has changed it meanwhile."""
        post = {"raw": raw, "edit_reason": reason} | ({"original_text": original} if original is not None else {})
        answer = self._write("PUT", f"/posts/{post_id}.json", {"post": post}, "edit its reply")
        return _written(answer.get("post") or answer)

    def delete_post(self, post_id: int) -> None:
        self._write("DELETE", f"/posts/{post_id}.json", None, "delete its reply")

    def _get(self, path: str, **params: Any) -> dict[str, Any]:
        answer = self._fetch(path, **params)
        if not isinstance(answer, dict):
            raise RemoteUnavailable(f"Discourse answered {path} with no JSON object.", service=_SERVICE, status=200)
        return answer

    def _fetch(self, path: str, **params: Any) -> Any:
        for attempt in stamina.retry_context(on=_worth_waiting, attempts=self._attempts, timeout=60, wait_max=4):
            with attempt, self._breaker.guard():
                response = self._send("GET", path, params=params)
                try:
                    return response.json()
                except (ValueError, RecursionError):
                    raise RemoteUnavailable(
                        f"Discourse answered {path} with something that is no JSON.", service=_SERVICE, status=200
                    ) from None
        raise AssertionError("unreachable")  # pragma: no cover

    def _write(self, method: str, path: str, body: dict[str, Any] | None, purpose: str) -> dict[str, Any]:
        with self._breaker.guard():
            response = self._send(method, path, body=body, purpose=purpose)
            if method == "DELETE":
                return {}
            try:
                answer = response.json()
            except (ValueError, RecursionError):
                answer = None
            if not isinstance(answer, dict):
                raise OutcomeUnknown(
                    f"Discourse answered {method} {path} with something that is no JSON object.",
                    service=_SERVICE,
                    status=response.status_code,
                )
            return answer

    def _send(
        self,
        method: str,
        path: str,
        *,
        params: dict[str, Any] | None = None,
        body: dict[str, Any] | None = None,
        purpose: str = "read this",
    ) -> httpx.Response:
        self._pace.wait()
        content = json.dumps(body, ensure_ascii=True).encode() if body is not None else None
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self._username and "Api-Key" in self._http.headers:
            headers["Api-Username"] = self._username
        try:
            response = self._http.request(method, path, params=params, content=content, headers=headers)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol) as error:
            raise RemoteUnavailable(
                f"Discourse at {self._section.base_url} cannot be reached ({type(error).__name__}).", service=_SERVICE
            ) from error
        except httpx.HTTPError as error:
            lost = RemoteUnavailable if method == "GET" else OutcomeUnknown
            raise lost(
                f"Discourse gave no whole answer to {method} {path} ({type(error).__name__}).", service=_SERVICE
            ) from error
        if not response.is_success:
            raise refusal(method, path, response, purpose, ceiling_s=self._section.retry_after_ceiling_s)
        return response


def _written(record: object) -> Post:
    try:
        if isinstance(record, dict):
            return read_post(record)
    except ValueError:
        pass
    raise OutcomeUnknown("Discourse took the write, but its answer holds no post.", service=_SERVICE, status=200)


def _worth_waiting(error: Exception) -> bool | float:
    if not isinstance(error, RemoteUnavailable):
        return False
    if error.retry_after_s is not None:
        return error.retry_after_s if error.retry_after_s <= _PATIENCE_S else False
    return True


def _read(reader: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return reader(*args, **kwargs)
    except ValueError as error:
        raise RemoteUnavailable(f"Discourse answered with a broken record: {error}.", service=_SERVICE) from error


def _record(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _records(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
