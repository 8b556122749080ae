"""Gaps open, group and close; complaints count; the weekly report is written once; shadows never post."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.digest import Digest
from bot.gaps import Gaps
from bot.shadowing import Shadowing
from clients.postgres.gap_store import GapStore
from clients.postgres.ledger import Ledger
from clients.postgres.page_store import PageStore
from clients.postgres.pool import Database
from forum.bm25 import Corpus
from forum.config import Config, FlagsSection
from forum.errors import OutcomeUnknown, RemoteUnavailable
from forum.types import Answer, Question, Route, Zone

MONDAY = datetime(2026, 11, 30, 9, tzinfo=UTC)


class Book:
    """Rows of the ledger and of the index, one a call."""

    def __init__(self, database: Database) -> None:
        self.database, self.store = database, GapStore(database)

    def gather(self) -> list[dict[str, Any]]:
        Gaps(
            self.store, Config, statistics=lambda terms: Corpus(documents=1000, average_length=1.0, frequencies={})
        ).gather()
        return PageStore(self.database).gaps(state="open", limit=50)

    def ask(self, post_id: int, question: str, *, state: str = "abstained", **more: Any) -> None:
        outcome = "abstained" if state == "abstained" else "posted"
        values = {"post_id": post_id, "topic_id": post_id, "post_number": 1, "user_id": post_id, "question": question}
        values |= {"state": state, "outcome": outcome, "form": MONDAY, "asked_at": MONDAY, **more}
        self._insert("ask", values)

    def answer(self, topic_id: int, *, by: str = "old_hand", accepted: bool = False) -> None:
        """Somebody's post in the topic, in the index."""
        self._insert("topic", {"id": topic_id, "accepted_post_id": topic_id * 100 if accepted else None})
        values = {"id": topic_id * 100, "topic_id": topic_id, "post_number": 2, "username": by, "user_id": 99}
        self._insert("post", values | {"text": "Because.", "created_at": MONDAY, "updated_at": MONDAY})

    def trace(self, trace_id: str) -> None:
        self._insert("trace", {"id": trace_id, "zone": "ok", "route": "answered", "body": "{}"})

    def _insert(self, table: str, values: dict[str, Any]) -> None:
        names, marks = ", ".join(values), ", ".join(f"%({name})s" for name in values)
        with self.database.connection() as connection:
            connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)  # type: ignore[arg-type]


@pytest.fixture
def book(database: Database) -> Book:
    return Book(database)


def test_questions_that_ask_the_same_are_one_gap(book: Book) -> None:
    book.ask(1, "Which gravel tyres are best for winter riding?")
    book.ask(2, "Are there gravel tyres for winter?")
    book.ask(3, "My sourdough starter smells of acetone")
    assert [gap["questions"] for gap in book.gather()] == [2, 1]


def test_a_later_question_joins_its_gap(book: Book) -> None:
    book.ask(1, "Which gravel tyres are best for winter riding?")
    book.gather()
    book.ask(2, "Winter riding on gravel tyres, which ones?")
    assert [gap["questions"] for gap in book.gather()] == [2]


def test_an_answered_question_is_no_gap(book: Book) -> None:
    book.ask(1, "Which gravel tyres are best?", state="posted")
    assert book.gather() == []


def test_a_person_s_accepted_answer_closes_the_gap(book: Book) -> None:
    book.ask(1, "Which gravel tyres are best?")
    assert len(book.gather()) == 1
    book.answer(1, accepted=True)
    assert book.gather() == []
    closed = PageStore(book.database).gaps(state="closed", limit=5)
    assert closed[0]["closing_post_id"] == 100


@pytest.mark.parametrize(("by", "accepted"), [("Threadcite", True), ("old_hand", False)])
def test_the_bot_s_answer_or_an_unaccepted_one_closes_nothing(book: Book, by: str, accepted: bool) -> None:
    book.ask(1, "Which gravel tyres are best?")
    book.answer(1, by=by, accepted=accepted)
    assert len(book.gather()) == 1


def test_a_person_s_answer_is_shown_before_it_is_accepted(book: Book) -> None:
    book.ask(1, "Which gravel tyres are best?")
    book.answer(1)
    gap = book.gather()[0]
    found = PageStore(book.database).answered_since([gap["id"]], bot="threadcite")
    assert [(row["username"], row["accepted"]) for row in found] == [("old_hand", None)]


def test_a_deleted_question_leaves_its_gap(book: Book) -> None:
    book.ask(1, "Which gravel tyres are best?")
    book.gather()
    with book.database.connection() as connection:
        Ledger(book.database).scrub_question(connection, [1])
    assert book.gather() == []


def test_a_reply_that_calls_the_answer_wrong_is_a_dislike(book: Book) -> None:
    book.ask(1, "How does it tip?", state="posted", reply_post_id=500, reply_post_number=2)
    reply = {
        "topic_id": 1,
        "kind": "reply",
        "reply_to_post_number": 2,
        "state": "posted",
        "created_at": datetime.now(UTC),
    }
    book.ask(2, "That is wrong, it tips at 0.2 mm", **reply, post_number=3)
    book.ask(3, "And how do I clean it?", **reply, post_number=4)
    book.gather()
    book.gather()
    _, kinds, disliked = book.store.week(datetime(2026, 1, 1, tzinfo=UTC))
    assert kinds == {"dislike": 1}
    assert [row["question"] for row in disliked] == ["How does it tip?"]


class Forum:
    """Takes topics in, or fails as told."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error, self.topics = error, list[dict[str, Any]]()

    def create_topic(self, **topic: Any) -> int:
        if self.error:
            raise self.error
        self.topics.append(topic)
        return 77


def digest(book: Book, forum: Forum, *, now: datetime = MONDAY, **section: Any) -> Digest:
    config = Config.parse({"digest": {"enabled": True, "category_id": 3, **section}})
    pages = PageStore(book.database)
    return Digest(book.store, pages, forum, lambda: config, now=lambda: now)  # type: ignore[arg-type]


def test_the_report_is_written_once_on_its_day(book: Book) -> None:
    book.ask(1, "Which [gravel](https://evil.example) tyres, @admins?")
    book.gather()
    forum = Forum()
    for _ in range(3):
        digest(book, forum).write()
    assert len(forum.topics) == 1
    assert forum.topics[0]["category_id"] == 3
    raw = forum.topics[0]["raw"]
    assert "not answered by the forum: 1" in raw
    assert "](https://evil" not in raw
    assert "@admins" not in raw


def test_the_report_is_off_unless_asked_for_and_waits_for_its_day(book: Book) -> None:
    forum = Forum()
    digest(book, forum, enabled=False).write()
    digest(book, forum, weekday="tuesday").write()
    assert forum.topics == []


def test_a_report_that_was_not_taken_is_tried_again_and_a_doubtful_one_never(book: Book) -> None:
    forum = Forum(RemoteUnavailable("away"))
    digest(book, forum).write()
    forum.error = OutcomeUnknown("no answer")
    digest(book, forum).write()
    forum.error = None
    digest(book, forum).write()
    assert forum.topics == []


def shadowing(book: Book, made: list[FlagsSection], share: float = 1.0) -> Shadowing:
    def answer(question: Question, flags: FlagsSection) -> Answer:
        made.append(flags)
        return Answer(text="", zone=Zone.WEAK, route=Route.ANSWERED, language="en", trace_id=f"shadow-{len(made)}")

    config = Config.parse({"shadow": {"share": share, "flags": {"corrective": True}}})
    return Shadowing(book.database, Ledger(book.database), book.store, answer, lambda: config)


def test_a_shadow_answer_is_stored_beside_the_real_one_and_made_once(book: Book) -> None:
    book.trace("live")
    book.ask(1, "How does it tip?", state="posted", trace_id="live")
    made: list[FlagsSection] = []
    for _ in range(2):
        shadowing(book, made).run()
    assert [flags.corrective for flags in made] == [True]
    pair = book.store.shadow_pairs(days=1)[0]
    assert (pair["live_zone"], pair["shadow_zone"], pair["flags"]) == ("ok", "weak", {"corrective": True})
    ask = Ledger(book.database).load(1)
    assert ask is not None
    assert ask.trace_id == "live"


def test_a_member_who_waits_goes_before_any_shadow(book: Book) -> None:
    book.trace("live")
    book.ask(1, "How does it tip?", state="posted", trace_id="live")
    book.ask(2, "And when?", state="queued")
    made: list[FlagsSection] = []
    shadowing(book, made).run()
    assert made == []


def test_a_share_draws_the_same_questions_each_time(book: Book) -> None:
    for n in range(1, 41):
        book.trace(f"live{n}")
        book.ask(n, "How does it tip?", state="posted", trace_id=f"live{n}")
    first = [row["post_id"] for row in book.store.shadow_due(0.3)]
    assert 5 <= len(first) <= 19
    assert first == [row["post_id"] for row in book.store.shadow_due(0.3)]
