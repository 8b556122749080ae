"""The rows of the practice forum in memory, each change a line in the journal before anybody sees it."""

from __future__ import annotations

import bisect
import threading
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from demo.content import Content
from demo.cook import Linked, cook
from demo.journal import Journal
from demo.records import Category, Group, Notification, Pending, Post, Record, Topic, User, dump, load
from demo.visibility import is_public


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that Discourse tells its webhooks, e.g. type `post`, name `post_created`, record the post."""

    type: str
    name: str
    record: Record
    user: User | None = None


class Store:
    """Tables and indexes; `lock` guards them, also for reading more than one row."""

    def __init__(self, journal: Journal, content: Content) -> None:
        self.lock = threading.RLock()
        self.title, self.description = content.title, content.description
        self.users: dict[int, User] = {}
        self.groups: dict[int, Group] = {}
        self.categories: dict[int, Category] = {}
        self.topics: dict[int, Topic] = {}
        self.posts: dict[int, Post] = {}
        self.notifications: dict[int, Notification] = {}
        self.pending: dict[int, Pending] = {}
        self.listeners: list[Callable[[Event], None]] = []
        self.next_event_id = 1
        self._usernames: dict[str, int] = {}
        self._numbers: dict[int, list[tuple[int, int]]] = {}
        self._inbox: dict[int, list[int]] = {}
        self._journal = journal
        lines = 0
        for line in journal.lines():
            self._apply([load(row) for row in line["rows"]])
            self.next_event_id = line["event"]
            lines += 1
        if not lines:
            self._seed(content.records)

    def _seed(self, records: Sequence[Record]) -> None:
        self._apply(records)
        posts = [replace(p, cooked=self.cook(p.raw, p.topic_id)) for p in self.posts.values()]
        self.commit([*(r for r in records if not isinstance(r, Post)), *posts], [])

    def commit(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        """One change, all or nothing: to the journal, into memory, then to the listeners (under the lock)."""
        with self.lock:
            self.next_event_id += len(events)
            self._journal.append({"event": self.next_event_id, "rows": [dump(r) for r in records]})
            self._apply(records)
            for event in events:
                for listener in self.listeners:
                    listener(event)

    def close(self) -> None:
        self._journal.close()

    def _apply(self, records: Sequence[Record]) -> None:
        for record in records:
            table: dict[int, Any] = getattr(self, record.TABLE)
            old = table.get(record.id)
            table[record.id] = record
            if isinstance(record, User):
                if old is not None:
                    self._usernames.pop(_fold(old.username), None)
                if not record.deleted:
                    self._usernames[_fold(record.username)] = record.id
            elif isinstance(record, Post):
                if old is not None:
                    self._numbers[old.topic_id].remove((old.post_number, old.id))
                bisect.insort(self._numbers.setdefault(record.topic_id, []), (record.post_number, record.id))
            elif isinstance(record, Notification) and old is None:
                self._inbox.setdefault(record.user_id, []).append(record.id)

    # -- looking up

    def new_id(self, table: dict[int, Any]) -> int:
        return max(max(table, default=0), 0) + 1

    def user_named(self, name: str) -> User | None:
        number = self._usernames.get(_fold(name))
        return None if number is None else self.users[number]

    def posts_of(self, topic_id: int) -> list[Post]:
        """All posts of a topic by number, deleted ones too."""
        return [self.posts[number] for _, number in self._numbers.get(topic_id, ())]

    def post_numbered(self, topic_id: int, number: int) -> Post | None:
        found = self._numbers.get(topic_id, [])
        at = bisect.bisect_left(found, (number, -1))
        return self.posts[found[at][1]] if at < len(found) and found[at][0] == number else None

    def last_number(self, topic_id: int) -> int:
        found = self._numbers.get(topic_id)
        return found[-1][0] if found else 0

    def category_of(self, topic: Topic) -> Category | None:
        return None if topic.category_id is None else self.categories.get(topic.category_id)

    def inbox(self, user_id: int) -> list[Notification]:
        """A member's notifications, newest first."""
        return [self.notifications[n] for n in reversed(self._inbox.get(user_id, []))]

    # -- what cooking asks (demo.cook.Names)

    def cook(self, raw: str, topic_id: int | None) -> str:
        return cook(raw, self, topic_id=topic_id)

    def username(self, name: str) -> str | None:
        user = self.user_named(name)
        return user.username.lower() if user else None

    def group(self, name: str) -> str | None:
        return next((g.name for g in self.groups.values() if g.name.lower() == name.lower()), None)

    def category(self, slug: str) -> tuple[int, str] | None:
        return next(((c.id, c.name) for c in self.categories.values() if c.slug == slug), None)

    def linked(self, topic_id: int, post_number: int) -> Linked | None:
        topic, post = self.topics.get(topic_id), self.post_numbered(topic_id, post_number)
        if topic is None or post is None or not is_public(post, topic, self.category_of(topic)):
            return None
        text = " ".join(line for line in post.raw.split() if not line.startswith(("[quote", "[/quote", "```")))
        author = self.users[post.user_id].username
        return Linked(title=topic.title, slug=topic.slug, username=author, excerpt=text[:300])


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
