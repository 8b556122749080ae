"""The rows of the practice forum, as Discourse has them: frozen, and JSON in and out for the journal.

Times are strings in Discourse's own form, UTC with milliseconds (`2025-07-19T12:09:30.847Z`); they sort as text.
"""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

#: what an author leaves who deletes a post
STUB = "(post deleted by author)"
REGULAR, MODERATOR_ACTION, SMALL_ACTION, WHISPER = 1, 2, 3, 4  # Discourse's Post.types


def iso(moment: datetime) -> str:
    """A time as Discourse writes it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def seconds(stamp: str) -> float:
    """A Discourse time as seconds since the epoch."""
    return datetime.fromisoformat(stamp).timestamp()


def slugify(title: str) -> str:
    """A topic's slug: ASCII letters, digits and hyphens, `topic` when nothing is left."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain.replace("'", "")).strip("-")[:100] or "topic"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    TABLE: ClassVar[str] = "users"
    id: int
    username: str
    name: str = ""
    trust_level: int = 1
    admin: bool = False
    moderator: bool = False
    locale: str | None = None
    groups: tuple[str, ...] = ()
    created_at: str = "2022-01-01T00:00:00.000Z"
    #: no longer there: posts keep their author's id only
    deleted: bool = False

    @property
    def staff(self) -> bool:
        return self.admin or self.moderator


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    TABLE: ClassVar[str] = "groups"
    id: int
    name: str
    automatic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    TABLE: ClassVar[str] = "categories"
    id: int
    slug: str
    name: str
    description: str = ""
    read_restricted: bool = False
    #: names of the groups that may read and write it, when it is restricted
    groups: tuple[str, ...] = ()
    parent_id: int | None = None
    color: str = "0088CC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    TABLE: ClassVar[str] = "topics"
    id: int
    title: str
    user_id: int
    created_at: str
    bumped_at: str
    #: None: a private message
    category_id: int | None
    archetype: str = "regular"
    tags: tuple[str, ...] = ()
    visible: bool = True
    closed: bool = False
    archived: bool = False
    deleted_at: str | None = None
    deleted_by: int | None = None
    #: the readers of a private message, by user id
    participants: tuple[int, ...] = ()
    lang: str | None = None
    accepted_post_id: int | None = None
    views: int = 0
    #: "" when it follows from the title
    fixed_slug: str = ""

    @property
    def slug(self) -> str:
        return self.fixed_slug or slugify(self.title)

    @property
    def private(self) -> bool:
        return self.archetype == "private_message"


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    TABLE: ClassVar[str] = "posts"
    id: int
    topic_id: int
    post_number: int
    user_id: int
    raw: str
    cooked: str
    created_at: str
    updated_at: str
    post_type: int = REGULAR
    reply_to: int | None = None
    #: likes that came with the sample content, beside those in liked_by
    likes: int = 0
    liked_by: tuple[int, ...] = ()
    hidden: bool = False
    deleted_at: str | None = None
    deleted_by: int | None = None
    user_deleted: bool = False
    version: int = 1
    edit_reason: str | None = None
    last_editor_id: int | None = None
    #: the text before its author deleted it, so that it can be recovered
    raw_before_stub: str | None = None

    @property
    def like_count(self) -> int:
        return self.likes + len(self.liked_by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    TABLE: ClassVar[str] = "notifications"
    id: int
    user_id: int
    #: as in Discourse: 1 mentioned, 2 replied, 3 quoted, 5 liked, 6 private message, 15 group mentioned
    type: int
    post_id: int
    acting_user_id: int
    created_at: str
    read: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A post that waits for a moderator's approval."""

    TABLE: ClassVar[str] = "pending"
    id: int
    user_id: int
    args: dict[str, Any]
    created_at: str
    #: the post that it became; None while it waits
    post_id: int | None = None
    rejected: bool = False


Record = User | Group | Category | Topic | Post | Notification | Pending
KINDS: dict[str, type[Record]] = {
    kind.TABLE: kind for kind in (User, Group, Category, Topic, Post, Notification, Pending)
}


def dump(record: Record) -> dict[str, Any]:
    """A record as JSON, with the name of its table."""
    return {"table": record.TABLE, **dataclasses.asdict(record)}


def load(row: Mapping[str, Any]) -> Record:
    """The record that `dump` wrote; a row of an unknown table raises KeyError."""
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in row.items() if k != "table"}
    kind: Any = KINDS[row["table"]]
    record: Record = kind(**values)
    return record
