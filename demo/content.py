"""Reads the practice forum's sample content: `forum.yml` and one YAML file a topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import yaml

from demo.records import REGULAR, STUB, WHISPER, Category, Group, Post, Record, Topic, User, iso
from forum.errors import UsageError
from forum.strict_yaml import load

CONTENT = Path(__file__).parent / "forum"

#: Discourse's automatic groups, by id
AUTOMATIC = {0: "everyone", 1: "admins", 2: "moderators", 3: "staff"} | {10 + n: f"trust_level_{n}" for n in range(5)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    title: str
    description: str
    #: the bot's user name
    bot: str
    #: users, groups, categories, topics, posts; the posts are not cooked yet
    records: tuple[Record, ...]


def read_content(folder: Path = CONTENT) -> Content:
    """The content of a folder.

    Raises UsageError, naming the file and what is wrong, for anything that does not fit together.
    """
    path = folder / "forum.yml"
    forum = _yaml(path)
    try:
        records = _people(forum)
        users = {u.username: u for u in records if isinstance(u, User)}
        categories = {c.slug: c for c in records if isinstance(c, Category)}
        seen: dict[tuple[str, int], Path] = {}
        for path in sorted((folder / "topics").glob("*.yml")):
            for record in _topic(_yaml(path), users, categories):
                other = seen.setdefault((record.TABLE, record.id), path)
                if other != path:
                    raise UsageError(f"{path}: id {record.id} of {record.TABLE} is taken by {other.name}")
                records.append(record)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{path}: {type(error).__name__}: {error}") from error
    return Content(
        title=str(forum.get("title", "Practice forum")),
        description=str(forum.get("base_description", "")),
        bot=str(forum.get("bot", "threadcite")),
        records=tuple(records),
    )


def _yaml(path: Path) -> Mapping[str, Any]:
    try:
        content = load(path.read_text("utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise UsageError(f"{path}: {error}") from error
    if not isinstance(content, dict):
        raise UsageError(f"{path}: a mapping is expected")
    return content


def _people(forum: Mapping[str, Any]) -> list[Record]:
    members: dict[str, set[str]] = {}
    groups = [Group(id=number, name=name, automatic=True) for number, name in AUTOMATIC.items()]
    for number, group in enumerate(forum.get("groups") or (), 41):
        entry = {"name": group} if isinstance(group, str) else group
        for username in entry.get("members") or entry.get("users") or ():
            members.setdefault(username, set()).add(entry["name"])
        if entry["name"] not in AUTOMATIC.values():
            groups.append(Group(id=int(entry.get("id", number)), name=entry["name"]))
    users = [
        User(
            id=int(u["id"]),
            username=u["username"],
            name=u.get("name") or "",
            trust_level=int(u.get("trust_level", 1)),
            admin=bool(u.get("admin")),
            moderator=bool(u.get("moderator")),
            locale=u.get("locale"),
            groups=tuple(sorted({*members.get(u["username"], ()), *(u.get("groups") or ())})),
        )
        for u in forum["users"]
    ]
    if all(u.id != -1 for u in users):
        users.append(User(id=-1, username="system", name="system", trust_level=4, admin=True))
    ids = {c["slug"]: int(c["id"]) for c in forum["categories"]}
    colors = ("0088CC", "BF1E2E", "3AB54A", "F7941D", "9EB83B", "652D90", "25AAE2", "E45735")
    categories = [
        Category(
            id=ids[c["slug"]],
            slug=c["slug"],
            name=c["name"],
            description=(c.get("description") or "").strip(),
            read_restricted=bool(c.get("read_restricted")),
            groups=tuple(c.get("groups") or ()),
            parent_id=ids[c["parent"]] if c.get("parent") else None,
            color=str(c.get("color") or colors[number % len(colors)]),
        )
        for number, c in enumerate(forum["categories"])
    ]
    return [*users, *groups, *categories]


def _topic(
    source: Mapping[str, Any], users: Mapping[str, User], categories: Mapping[str, Category]
) -> Sequence[Topic | Post]:
    posts = [_post(post, number, int(source["id"]), users) for number, post in enumerate(source["posts"], 1)]
    private = source.get("archetype") == "private_message"
    authors = {p.user_id for p in posts}
    accepted = [p.id for p, s in zip(posts, source["posts"], strict=True) if s.get("accepted")]
    topic = Topic(
        id=int(source["id"]),
        title=str(source["title"]),
        user_id=posts[0].user_id,
        created_at=_time(source.get("created") or posts[0].created_at),
        bumped_at=max(p.created_at for p in posts),
        category_id=None if private else categories[source["category"]].id,
        archetype="private_message" if private else "regular",
        tags=tuple(str(tag) for tag in source.get("tags") or ()),
        visible=bool(source.get("visible", True)),
        closed=bool(source.get("closed")),
        archived=bool(source.get("archived")),
        participants=tuple(sorted({*(users[n].id for n in source.get("participants") or ()), *authors}))
        if private
        else (),
        lang=source.get("lang"),
        accepted_post_id=accepted[0] if accepted else None,
        views=40 + 17 * len(posts),
        fixed_slug=str(source.get("slug") or ""),
    )
    if source.get("deleted"):
        topic = replace(topic, deleted_at=posts[-1].updated_at, deleted_by=-1)
    return [topic, *posts]


def _post(post: Mapping[str, Any], number: int, topic_id: int, users: Mapping[str, User]) -> Post:
    created = _time(post["at"])
    edited, deleted, likes = post.get("edited"), post.get("deleted"), post.get("likes") or 0
    updated = created if not edited or edited is True else _time(edited)
    raw, user_deleted = str(post["raw"]).strip(), bool(post.get("user_deleted"))
    return Post(
        id=int(post["id"]),
        topic_id=topic_id,
        post_number=number,
        user_id=users[post["user"]].id,
        raw=STUB if user_deleted else raw,
        raw_before_stub=raw if user_deleted else None,
        cooked="",
        created_at=created,
        updated_at=updated,
        post_type=WHISPER if post.get("whisper") else REGULAR,
        reply_to=post.get("reply_to"),
        likes=likes if isinstance(likes, int) else 0,
        liked_by=() if isinstance(likes, int) else tuple(users[n].id for n in likes),
        hidden=bool(post.get("hidden")),
        deleted_at=None if not deleted else updated if deleted is True else _time(deleted),
        deleted_by=-1 if deleted else None,
        user_deleted=user_deleted,
        version=int(post.get("version") or (2 if edited else 1)),
    )


def _time(value: object) -> str:
    """A YAML date, time or text as Discourse writes it; without a zone it is UTC."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        return iso(value if value.tzinfo else value.replace(tzinfo=UTC))
    if isinstance(value, date):
        return iso(datetime(value.year, value.month, value.day, 12, tzinfo=UTC))
    raise ValueError(f"{value!r} is no time")
