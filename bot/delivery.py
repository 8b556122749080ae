"""A webhook's delivery, read: what happened to which post or topic, and what it says that is new."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from clients.discourse_json import instant, integer, read_post, write_source_post
from forum.types import SourcePost
from forum.unicode_safety import json_safe


class Happened(StrEnum):
    """What we make of an event's name; Discourse has used several names for some."""

    PING = "ping"
    POST_WRITTEN = "post_written"
    POST_EDITED = "post_edited"
    POST_GONE = "post_gone"
    POST_BACK = "post_back"
    TOPIC_CHANGED = "topic_changed"
    TOPIC_GONE = "topic_gone"
    TOPIC_BACK = "topic_back"
    CATEGORY_CHANGED = "category_changed"
    LIKED = "liked"
    SOLVED = "solved"
    UNKNOWN = "unknown"


_NAMES = {
    "ping": Happened.PING,
    "post_created": Happened.POST_WRITTEN,
    "post_edited": Happened.POST_EDITED,
    "post_revised": Happened.POST_EDITED,
    "post_destroyed": Happened.POST_GONE,
    "post_recovered": Happened.POST_BACK,
    "topic_created": Happened.TOPIC_CHANGED,
    "topic_edited": Happened.TOPIC_CHANGED,
    "topic_revised": Happened.TOPIC_CHANGED,
    "topic_destroyed": Happened.TOPIC_GONE,
    "topic_recovered": Happened.TOPIC_BACK,
    "category_created": Happened.CATEGORY_CHANGED,
    "category_updated": Happened.CATEGORY_CHANGED,
    "category_destroyed": Happened.CATEGORY_CHANGED,
    "post_liked": Happened.LIKED,
    "like_created": Happened.LIKED,
    "accepted_solution": Happened.SOLVED,
    "unaccepted_solution": Happened.SOLVED,
    "solved_accepted_solution": Happened.SOLVED,
    "solved_unaccepted_solution": Happened.SOLVED,
}
_POST_EVENTS = (
    Happened.POST_WRITTEN,
    Happened.POST_EDITED,
    Happened.POST_GONE,
    Happened.POST_BACK,
    Happened.SOLVED,
)
_TOPIC_EVENTS = (Happened.TOPIC_CHANGED, Happened.TOPIC_GONE, Happened.TOPIC_BACK)


@dataclass(frozen=True, kw_only=True, slots=True)
class Delivery:
    """`record` is the JSON of the post, topic or category, storable and untrusted; `key` is the same for the same
    news, however often and under whatever event id it is delivered."""

    event: str
    happened: Happened
    key: str
    event_id: str | None = None
    record: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


def read_delivery(body: bytes, *, event: str | None, event_type: str | None, event_id: str | None = None) -> Delivery:
    """Raises ValueError when the body is no JSON object or does not hold what its event is about."""
    try:
        content = json.loads(body)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("the body is no JSON object")  # noqa: TRY004 (the sender's mistake, as any other here)
    name = _name(event, event_type, content)
    happened = _NAMES.get(name, _status_change(name))
    if happened in (Happened.PING, Happened.UNKNOWN):
        return Delivery(event=name, happened=happened, key="", event_id=event_id)
    record = _record(happened, content, event_type)
    identity = integer(record.get("id"))
    if identity is None:
        raise ValueError(f"{name}: id is missing or no whole number")
    if happened in _POST_EVENTS:
        read_post(record)
    return Delivery(
        event=name,
        happened=happened,
        key=f"{name}:{identity}:{_news(happened, record, body)}",
        event_id=event_id[:64] if event_id else None,
        record=record,
    )


def seen(found: SourcePost) -> Delivery:
    """A post that we found ourselves, as the delivery that would have told of it: the same key, so never twice."""
    record = write_source_post(found)
    edited = found.post.version > 1
    event = "post_edited" if edited else "post_created"
    happened = Happened.POST_EDITED if edited else Happened.POST_WRITTEN
    key = f"{event}:{found.post.id}:{_news(happened, record, b'')}"
    return Delivery(event=event, happened=happened, key=key, record=record)


def _name(event: str | None, event_type: str | None, content: Mapping[str, Any]) -> str:
    if event:
        return event[:64].lower()
    if "ping" in content:
        return "ping"
    # Discourse leaves the name out only where it has none; a post is then taken for an edited one.
    return "post_edited" if (event_type or next(iter(content), "")) == "post" else (event_type or "")[:64].lower()


def _status_change(name: str) -> Happened:
    # topic_closed_status_updated, topic_visible_status_updated, ...
    return Happened.TOPIC_CHANGED if name.startswith("topic_") and name.endswith("_updated") else Happened.UNKNOWN


def _record(happened: Happened, content: Mapping[str, Any], event_type: str | None) -> Mapping[str, Any]:
    names: tuple[str, ...]
    if happened is Happened.SOLVED:
        names = ("solved", "post")
    elif happened is Happened.LIKED:
        names = ("like",)
    elif happened in _POST_EVENTS:
        names = ("post",)
    elif happened in _TOPIC_EVENTS:
        names = ("topic",)
    else:
        names = ("category",)
    for name in (*names, event_type or ""):
        record = content.get(name)
        if isinstance(record, dict):
            if happened is Happened.LIKED:
                post, user = record.get("post"), record.get("user")
                record = (
                    {**post, "liked_by": user.get("id")} if isinstance(post, dict) and isinstance(user, dict) else {}
                )
            safe = json_safe(record)
            return safe if isinstance(safe, dict) else {}
    raise ValueError(f"the body holds no {names[0]}")


def _news(happened: Happened, record: Mapping[str, Any], body: bytes) -> str:
    """A post's form is its version and updated_at; other events are the same only when every byte is."""
    version, updated = record.get("version"), record.get("updated_at")
    if happened in (Happened.POST_WRITTEN, Happened.POST_EDITED) and isinstance(updated, str):
        at = instant(updated)
        return f"{version if isinstance(version, int) else 0}:{at.isoformat() if at else updated[:40]}"
    return hashlib.sha256(body).hexdigest()
