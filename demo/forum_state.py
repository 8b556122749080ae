"""What members and moderators do on the practice forum; each operation is one change in the store.

Every operation takes the member who acts, raises `Refused` where Discourse would say no, and names the events that
Discourse would send to its webhooks; those that send none there (hide, move, merge, anonymise) send none here.
It is one file because the operations share one lock and one way to say who may do what.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from demo.records import (
    MODERATOR_ACTION,
    REGULAR,
    STUB,
    WHISPER,
    Category,
    Notification,
    Pending,
    Post,
    Record,
    Topic,
    User,
    iso,
    seconds,
)
from demo.rules import Refused, diff_size, forbidden, not_found, own_text, text_problem
from demo.settings import Settings
from demo.store import Event, Store
from demo.visibility import can_see_post, can_see_topic, group_names

MENTIONED, REPLIED, QUOTED, LIKED, PRIVATE_MESSAGE, GROUP_MENTIONED = 1, 2, 3, 5, 6, 15


class Enqueued(Exception):
    """The post waits for approval; Discourse answers this with status 200."""

    def __init__(self, pending: Pending, reason: str) -> None:
        super().__init__(reason)
        self.pending, self.reason = pending, reason


class ForumState:
    """The operations. `clock` gives the present time."""

    def __init__(
        self, store: Store, settings: Settings | None = None, clock: Callable[[], datetime] | None = None
    ) -> None:
        self.store = store
        self.settings = settings or Settings()
        self._clock = clock or (lambda: datetime.now(UTC))

    def now_s(self) -> float:
        return self._clock().timestamp()

    def now(self) -> str:
        return iso(self._clock())

    # -- finding, as a reader

    def topic(self, viewer: User | None, topic_id: int) -> Topic:
        topic = self.store.topics.get(topic_id)
        if topic is None:
            raise not_found()
        if not can_see_topic(viewer, topic, self.store.category_of(topic)):
            # Discourse does not tell a deleted topic from none; a closed category it does
            raise not_found() if topic.deleted_at else forbidden()
        return topic

    def post(self, viewer: User | None, post_id: int) -> Post:
        post = self.store.posts.get(post_id)
        if post is None:
            raise not_found()
        topic = self.store.topics[post.topic_id]
        if not can_see_post(viewer, post, topic, self.store.category_of(topic)):
            raise not_found() if post.deleted_at or topic.deleted_at else forbidden()
        return post

    # -- posts

    def create_post(
        self, actor: User, raw: str, *, enqueue: bool = False, waiting: Pending | None = None, **args: Any
    ) -> Post:
        """A reply (`topic_id`, `reply_to`, `whisper`), a topic (`title`, `category`, `tags`) or a private message.

        Raises Refused (422 with the reason), Enqueued when the post waits for approval.
        """
        store, now = self.store, args.get("created_at") or self.now()
        with store.lock:
            topic, is_new = self._place(actor, now, args)
            whisper = bool(args.get("whisper"))
            if whisper and not actor.staff:
                raise forbidden()
            cooked = store.cook(raw, topic.id)
            self._check(actor, raw, cooked, topic, is_new, skip=bool(waiting or args.get("skip_validations")))
            if not waiting and (enqueue or self._needs_approval(actor)):
                new = Pending(
                    id=store.new_id(store.pending), user_id=actor.id, args={"raw": raw, **args}, created_at=now
                )
                store.commit([new], [])
                raise Enqueued(new, "practice" if enqueue else "trust_level")
            post = Post(
                id=store.new_id(store.posts),
                topic_id=topic.id,
                post_number=store.last_number(topic.id) + 1,
                user_id=actor.id,
                raw=raw.strip(),
                cooked=cooked,
                created_at=now,
                updated_at=now,
                post_type=WHISPER if whisper else REGULAR,
                reply_to=self._parent(topic, args.get("reply_to")),
            )
            topic = replace(topic, bumped_at=topic.bumped_at if whisper else now)
            rows: list[Record] = [topic, post, *([replace(waiting, post_id=post.id)] if waiting else [])]
            self._commit_with_notices(rows, post, topic, self._events(post, topic, "created", is_new))
            return post

    def _place(self, actor: User, now: str, args: dict[str, Any]) -> tuple[Topic, bool]:
        """The topic that a new post goes to, made here when it is a new one."""
        store = self.store
        if args.get("topic_id"):
            topic = store.topics.get(int(args["topic_id"]))
            open_ = topic and topic.deleted_at is None and not (topic.closed or topic.archived)
            may = topic and can_see_topic(actor, topic, store.category_of(topic))
            if topic is None or not may or not (open_ or actor.staff):
                raise Refused(422, "Something has gone wrong. Perhaps this topic was closed or deleted meanwhile?")
            return topic, False
        title = str(args.get("title") or "").strip()
        least, most = self.settings.min_topic_title_length, self.settings.max_topic_title_length
        if not least <= len(title) <= most:
            raise Refused(422, f"Title must have {least} to {most} characters")
        topic = Topic(
            id=store.new_id(store.topics),
            title=title,
            user_id=actor.id,
            created_at=now,
            bumped_at=now,
            category_id=None,
            tags=tuple(args.get("tags") or ()),
        )
        if args.get("archetype") == "private_message":
            readers = [store.user_named(name) for name in args.get("recipients") or ()]
            if not readers or None in readers:
                raise Refused(422, "You must select a valid user.")
            participants = tuple(sorted({actor.id, *(u.id for u in readers if u)}))
            return replace(topic, archetype="private_message", participants=participants), True
        category = store.categories.get(int(args["category"])) if args.get("category") else None
        category = category or next(c for c in store.categories.values() if not c.read_restricted)
        topic = replace(topic, category_id=category.id)
        if not can_see_topic(actor, topic, category):
            raise forbidden()
        return topic, True

    def _check(self, actor: User, raw: str, cooked: str, topic: Topic, is_new: bool, *, skip: bool) -> None:
        problem = None if skip else text_problem(raw, cooked, actor, self.settings, private=topic.private)
        if problem:
            raise Refused(422, problem)
        if skip or actor.staff:
            return
        since = self._clock().timestamp() - 60 * self.settings.unique_posts_mins
        print_ = _fingerprint(raw)
        for post in reversed(self.store.posts.values()):
            if seconds(post.created_at) < since:
                break
            if post.user_id == actor.id and _fingerprint(post.raw) == print_:
                raise Refused(422, "Body is too similar to what you recently posted")
        last = [p for p in self.store.posts_of(topic.id)[-self.settings.max_consecutive_replies :] if not p.deleted_at]
        in_a_row = len(last) == self.settings.max_consecutive_replies and all(p.user_id == actor.id for p in last)
        if in_a_row and not is_new and not topic.private and topic.user_id != actor.id:
            raise Refused(
                422,
                f"No more than {self.settings.max_consecutive_replies} consecutive replies are allowed. "
                "Please edit your previous reply, or wait for someone to reply to you.",
            )

    def _needs_approval(self, actor: User) -> bool:
        return not actor.staff and actor.trust_level < self.settings.approve_unless_trust_level

    def _parent(self, topic: Topic, number: Any) -> int | None:
        """The post number that is answered; one that is not there is dropped, as Discourse does."""
        return int(number) if number and self.store.post_numbered(topic.id, int(number)) else None

    def edit_post(
        self, actor: User, post_id: int, raw: str, *, reason: str | None = None, original_text: str | None = None
    ) -> Post:
        """Raises Refused: 403 not yours, 404 gone, 409 when `original_text` is not what stands there, 422."""
        store = self.store
        with store.lock:
            post = self.post(actor, post_id)
            topic = store.topics[post.topic_id]
            if not (actor.staff or (post.user_id == actor.id and not post.user_deleted and not topic.archived)):
                raise forbidden()
            if original_text is not None and original_text.strip() != post.raw:
                raise Refused(409, "That post was edited by another user and your changes can no longer be saved.")
            cooked = store.cook(raw, topic.id)
            problem = text_problem(raw, cooked, actor, self.settings, private=topic.private)
            if problem:
                raise Refused(422, problem)
            if raw.strip() == post.raw:
                return post
            age = self._clock().timestamp() - seconds(post.created_at)
            small = diff_size(post.raw, raw.strip()) <= self.settings.editing_grace_period_max_diff
            quiet = small and actor.id == post.user_id and age < self.settings.editing_grace_period
            new = replace(
                post,
                raw=raw.strip(),
                cooked=cooked,
                updated_at=self.now(),
                version=post.version + (not quiet),
                edit_reason=reason or None,
                last_editor_id=actor.id,
            )
            self._commit_with_notices([new], new, topic, self._events(new, topic, "edited"))
            return new

    def delete_post(self, actor: User, post_id: int) -> Post:
        """Staff take a post away; its author leaves a stub."""
        store, now = self.store, self.now()
        with store.lock:
            post = self.post(actor, post_id)
            topic = store.topics[post.topic_id]
            first = post.post_number == 1
            if not actor.staff and (post.user_id != actor.id or (first and len(store.posts_of(topic.id)) > 1)):
                raise forbidden()
            if post.deleted_at or post.user_deleted:
                return post
            if actor.staff:
                new = replace(post, deleted_at=now, deleted_by=actor.id)
                events = self._events(new, topic, "destroyed", first)
            else:
                new = replace(
                    post,
                    raw=STUB,
                    cooked=store.cook(STUB, topic.id),
                    raw_before_stub=post.raw,
                    user_deleted=True,
                    updated_at=now,
                    version=post.version + 1,
                )
                events = [*self._events(new, topic, "edited"), *self._events(new, topic, "destroyed", first)]
            if first:
                topic = replace(topic, deleted_at=now, deleted_by=actor.id)
                events = [replace(e, record=topic) if isinstance(e.record, Topic) else e for e in events]
            store.commit([topic, new], events)
            return new

    def recover_post(self, actor: User, post_id: int) -> Post:
        store = self.store
        with store.lock:
            post = store.posts.get(post_id)
            if post is None:
                raise not_found()
            topic, first = store.topics[post.topic_id], post.post_number == 1
            if post.user_deleted and (actor.staff or actor.id == post.user_id):
                raw = post.raw_before_stub or post.raw
                new = replace(
                    post,
                    raw=raw,
                    cooked=store.cook(raw, topic.id),
                    raw_before_stub=None,
                    user_deleted=False,
                    updated_at=self.now(),
                    version=post.version + 1,
                )
                events = self._events(new, topic, "edited")
            elif post.deleted_at and actor.staff:
                new, events = replace(post, deleted_at=None, deleted_by=None), []
            else:
                raise forbidden()
            topic = replace(topic, deleted_at=None, deleted_by=None) if first else topic
            store.commit([topic, new], [*events, *self._events(new, topic, "recovered", first)])
            return new

    def hide_post(self, actor: User, post_id: int, hidden: bool = True) -> Post:
        """As flags do it; no webhook tells of it."""
        with self.store.lock:
            if not actor.staff:
                raise forbidden()
            new = replace(self.post(actor, post_id), hidden=hidden)
            self.store.commit([new], [])
            return new

    def move_posts(self, actor: User, post_ids: Sequence[int], topic_id: int) -> list[Post]:
        """Posts keep their id and get the next numbers there; a first post is copied, as Discourse does it."""
        store = self.store
        with store.lock:
            if not actor.staff:
                raise forbidden()
            target, number = self.topic(actor, topic_id), store.last_number(topic_id)
            moved, next_id = [], store.new_id(store.posts)
            for post in sorted((self.post(actor, n) for n in post_ids), key=lambda p: p.id):
                number += 1
                copied = post.post_number == 1
                moved.append(
                    replace(
                        post,
                        id=next_id if copied else post.id,
                        topic_id=target.id,
                        post_number=number,
                        reply_to=None,
                    )
                )
                next_id += copied
            store.commit(moved, [])
            return moved

    def merge_topic(self, actor: User, topic_id: int, into: int) -> Topic:
        """All posts go over; what is left of the old topic is closed and unlisted."""
        store = self.store
        with store.lock:
            self.topic(actor, into)
            self.move_posts(actor, [p.id for p in store.posts_of(topic_id) if not p.deleted_at], into)
            left = replace(store.topics[topic_id], closed=True, visible=False)
            store.commit([left], [])
            return left

    # -- topics and categories

    def edit_topic(self, actor: User, topic_id: int, **changes: Any) -> Topic:
        """`title`, `category_id`, `tags`: the author or staff."""
        with self.store.lock:
            topic = self.topic(actor, topic_id)
            if not actor.staff and topic.user_id != actor.id:
                raise forbidden()
            if "tags" in changes:
                changes["tags"] = tuple(changes["tags"])
            if changes.get("title", topic.title) != topic.title:
                changes["fixed_slug"] = ""
            new = replace(topic, **changes)
            self.store.commit([new], [Event(type="topic", name="topic_edited", record=new)])
            return new

    def set_status(self, actor: User, topic_id: int, status: str, enabled: bool) -> Topic:
        """`closed`, `archived` or `visible`, on or off."""
        with self.store.lock:
            if not actor.staff:
                raise forbidden()
            if status not in ("closed", "archived", "visible"):
                raise Refused(400, f"no such status: {status}", error_type="invalid_parameters")
            changed: dict[str, Any] = {status: enabled}
            new = replace(self.topic(actor, topic_id), **changed)
            self.store.commit([new], [Event(type="topic", name=f"topic_{status}_status_updated", record=new)])
            return new

    def delete_topic(self, actor: User, topic_id: int) -> Post:
        first = self.store.post_numbered(self.topic(actor, topic_id).id, 1)
        if first is None:
            raise not_found()
        return self.delete_post(actor, first.id)

    def recover_topic(self, actor: User, topic_id: int) -> Post:
        first = self.store.post_numbered(topic_id, 1)
        if first is None:
            raise not_found()
        return self.recover_post(actor, first.id)

    def restrict_category(self, actor: User, category_id: int, groups: Sequence[str] | None) -> Category:
        """Only these groups may read it from now on; None opens it to everybody."""
        with self.store.lock:
            if not actor.staff:
                raise forbidden()
            category = self.store.categories.get(category_id)
            if category is None:
                raise not_found()
            new = replace(category, read_restricted=groups is not None, groups=tuple(groups or ()))
            self.store.commit([new], [Event(type="category", name="category_updated", record=new)])
            return new

    # -- users

    def delete_user(self, actor: User, user_id: int) -> None:
        """The member goes, and all posts with them."""
        store = self.store
        with store.lock:
            if not actor.admin or user_id not in store.users:
                raise forbidden()
            for post in list(store.posts.values()):
                if post.user_id == user_id and not post.deleted_at:
                    self.delete_post(actor, post.id)
            store.commit([replace(store.users[user_id], deleted=True)], [])

    def anonymise(self, actor: User, user_id: int) -> User:
        with self.store.lock:
            if not actor.admin or user_id not in self.store.users:
                raise forbidden()
            new = replace(self.store.users[user_id], username=f"anon{user_id}", name="", locale=None)
            self.store.commit([new], [])
            return new

    # -- signals

    def accept(self, actor: User, post_id: int, accepted: bool = True) -> Post:
        """The topic's author or staff marks a post as the solution, or takes the mark away."""
        with self.store.lock:
            post = self.post(actor, post_id)
            topic = self.store.topics[post.topic_id]
            if not actor.staff and topic.user_id != actor.id:
                raise forbidden()
            new = replace(topic, accepted_post_id=post.id if accepted else None)
            name = "accepted_solution" if accepted else "unaccepted_solution"
            self.store.commit([new], [Event(type="solved", name=name, record=post)])
            return post

    def like(self, actor: User, post_id: int, liked: bool = True) -> Post:
        with self.store.lock:
            post = self.post(actor, post_id)
            if post.user_id == actor.id or (liked and actor.id in post.liked_by):
                raise forbidden()
            others = tuple(n for n in post.liked_by if n != actor.id)
            new = replace(post, liked_by=(*others, actor.id) if liked else others)
            if not liked:
                self.store.commit([new], [])
                return new
            topic = self.store.topics[post.topic_id]
            notices = self._notices([(LIKED, post.user_id)], new, topic, actor)
            event = Event(type="like", name="post_liked", record=new, user=actor)
            self.store.commit([new, *notices], [event, *_told(notices)])
            return new

    def approve(self, actor: User, pending_id: int) -> Post:
        """A waiting post becomes a real one, now."""
        with self.store.lock:
            waiting = self.store.pending.get(pending_id)
            if waiting is None or waiting.post_id or waiting.rejected:
                raise not_found()
            if not actor.staff:
                raise forbidden()
            return self.create_post(self.store.users[waiting.user_id], waiting=waiting, **waiting.args)

    def reject(self, actor: User, pending_id: int) -> None:
        with self.store.lock:
            waiting = self.store.pending.get(pending_id)
            if waiting is None or not actor.staff:
                raise not_found()
            self.store.commit([replace(waiting, rejected=True)], [])

    def mark_read(self, user: User, notification_id: int | None = None) -> None:
        with self.store.lock:
            unread = [n for n in self.store.inbox(user.id) if not n.read and notification_id in (None, n.id)]
            self.store.commit([replace(n, read=True) for n in unread], [])

    # -- events and notifications

    @staticmethod
    def _events(post: Post, topic: Topic, what: str, with_topic: bool = False) -> list[Event]:
        events = [Event(type="post", name=f"post_{what}", record=post)]
        if with_topic:
            events.insert(0, Event(type="topic", name=f"topic_{what}", record=topic))
        return events

    def _commit_with_notices(self, rows: Sequence[Record], post: Post, topic: Topic, events: Sequence[Event]) -> None:
        notices = self._notices(self._addressed(post, topic), post, topic, self.store.users[post.user_id])
        self.store.commit([*rows, *notices], [*events, *_told(notices)])

    def _addressed(self, post: Post, topic: Topic) -> list[tuple[int, int]]:
        """(notification type, user id) of everybody whom the post speaks to, the strongest reason first."""
        if post.post_type == MODERATOR_ACTION:
            return []
        store, found = self.store, list[tuple[int, int]]()
        for link in own_text(post.cooked).css("a.mention"):
            user = store.user_named((link.text() or "").removeprefix("@"))
            found += [(MENTIONED, user.id)] if user else []
        for link in own_text(post.cooked).css("a.mention-group"):
            name = (link.text() or "").removeprefix("@").lower()
            found += [(GROUP_MENTIONED, u.id) for u in store.users.values() if name in group_names(u)]
        parent = store.post_numbered(topic.id, post.reply_to) if post.reply_to else None
        found += [(REPLIED, parent.user_id)] if parent else []
        found += [(PRIVATE_MESSAGE, n) for n in topic.participants]
        return found

    def _notices(
        self, addressed: Sequence[tuple[int, int]], post: Post, topic: Topic, actor: User
    ) -> list[Notification]:
        """One notification a member and post; none to oneself, to bots, or to those who cannot see the post."""
        store, notices = self.store, dict[int, Notification]()
        next_id = store.new_id(store.notifications)
        for kind, user_id in addressed:
            user = store.users[user_id]
            if user_id in notices or user_id == actor.id or user_id <= 0 or user.deleted:
                continue
            if not can_see_post(user, post, topic, store.category_of(topic)):
                continue
            if any(n.post_id == post.id and n.type == kind for n in store.inbox(user_id)):
                continue
            notices[user_id] = Notification(
                id=next_id + len(notices),
                user_id=user_id,
                type=kind,
                post_id=post.id,
                acting_user_id=actor.id,
                created_at=self.now(),
            )
        return list(notices.values())


def _told(notices: Sequence[Notification]) -> list[Event]:
    return [Event(type="notification", name="notification_created", record=n) for n in notices]


def _fingerprint(raw: str) -> str:
    return hashlib.sha256("".join(raw.split()).encode()).hexdigest()
