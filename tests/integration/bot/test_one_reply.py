"""A mention gets one reply whatever the forum does, through the real web app, queue, worker and a practice forum."""

from __future__ import annotations

from dataclasses import replace
from threading import Event
from typing import Any

import pytest

from forum.ask import AskState
from forum.types import Answer, Question
from tests.integration.bot.conftest import Room, made_up


def test_a_mention_is_answered_once_as_a_reply_to_the_asking_post(room: Room) -> None:
    asked = room.ask(room.topic().topic_id, "how does the gauge tip?")
    ask = room.ended(asked.id)
    (reply,) = room.replies(asked.topic_id)
    assert (ask.state, ask.reply_post_id) == (AskState.POSTED, reply.id)
    assert reply.reply_to == asked.post_number
    assert "how does the gauge tip?" in reply.raw


_WEIRD = [
    {"body": "", "content_type": ""},
    {"body": "<html>slow down</html>", "content_type": "text/html", "retry_after": "1"},
    {"body": "[]", "content_type": "application/json", "retry_after": "abc"},
    {"body": "[]", "content_type": "application/json", "retry_after": "-5"},
    {"body": "{}", "content_type": "application/json", "retry_after": "1.5"},
    {"body": "{}", "content_type": "application/json", "retry_after": "Wed, 21 Oct 2015 07:28:00 GMT"},
]


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("refuse", {}),
        ("hang", {"seconds": 3}),
        ("drop-after-store", {}),
        ("hang-after-store", {"seconds": 3}),
        ("500-after-store", {}),
        ("500", {}),
        ("502", {}),
        ("503", {}),
        ("broken-json", {}),
        ("html", {}),
        ("429-json", {"wait": 1}),
        ("429-text", {"wait": 1}),
        *(("429-weird", params) for params in _WEIRD),
    ],
)
def test_one_reply_stands_after_the_forum_failed_at_posting(room: Room, kind: str, params: dict[str, Any]) -> None:
    room.practice.fail("posts.create", kind, user="threadcite", params=params)
    asked = room.ask(room.topic().topic_id)
    assert room.ended(asked.id, 60).state is AskState.POSTED
    assert len(room.replies(asked.topic_id)) == 1


def test_a_throttle_without_end_puts_the_job_back_instead_of_holding_the_worker(room: Room) -> None:
    room.practice.fail("posts.create", "429-weird", user="threadcite", params={"body": "", "retry_after": "999999"})
    waiting, next_one = room.ask(room.topic().topic_id), room.ask(room.topic().topic_id)
    # Whichever is posted first meets the throttle; the other one is not held up by it.
    pair = (waiting.id, next_one.id)
    room.until(lambda: {ask.state.value for n in pair if (ask := room.ledger.load(n))} == {"posted", "ready"})


def test_a_reply_that_waits_for_approval_is_followed_up(room: Room) -> None:
    room.practice.fail("posts.create", "enqueued", user="threadcite")
    asked = room.ask(room.topic().topic_id)
    assert room.ended(asked.id).state is AskState.ENQUEUED
    pending = max(room.practice.forum.store.pending)
    room.practice.forum.approve(room.member("maelle"), pending)
    room.until(lambda: room.ledger.load(asked.id).state is AskState.POSTED)  # type: ignore[union-attr]
    assert len(room.replies(asked.topic_id)) == 1


@pytest.mark.parametrize(
    ("kind", "state", "said"),
    [("422", "failed", "422"), ("403", "failed", "check the API key"), ("404", "discarded", "gone")],
)
def test_a_refusal_ends_the_ask_with_its_reason(room: Room, kind: str, state: str, said: str) -> None:
    room.practice.fail("posts.create", kind, user="threadcite", params={"error": "Body is not clear"})
    asked = room.ask(room.topic().topic_id)
    ask = room.ended(asked.id)
    assert ask.state.value == state
    assert said in ask.reason
    assert room.replies(asked.topic_id) == []


def test_a_new_account_posts_two_links_and_the_operator_is_told(room: Room) -> None:
    def linked(question: Question) -> Answer:
        links = " ".join(f"[title {n}]({room.practice.url}/t/x/{n})" for n in range(5))
        return replace(made_up(question), text=f"{question.text} {links}")

    room.answer = linked
    room.practice.fail("posts.create", "422-new-user-links", user="threadcite", count=1, params={"max": 2})
    asked = room.ask(room.topic().topic_id)
    ask = room.ended(asked.id)
    assert ask.state is AskState.POSTED
    assert "trust level" in ask.note
    assert (ask.reply_raw or "").count("](") == 2
    assert "title 4" in (ask.reply_raw or "")
    # The next reply does not try in vain again.
    following = room.ask(room.topic().topic_id)
    assert (room.ended(following.id).reply_raw or "").count("](") == 2


def test_a_topic_closed_before_the_reply_is_left_alone(room: Room) -> None:
    asking, go = room.topic(), Event()
    room.answer = lambda question: (go.wait(10), made_up(question))[1]
    asked = room.ask(asking.topic_id)
    room.until(lambda: room.ledger.load(asked.id))
    room.practice.forum.set_status(room.member("maelle"), topic_id=asking.topic_id, status="closed", enabled=True)
    go.set()
    ask = room.ended(asked.id)
    assert (ask.state, "closed" in ask.reason) == (AskState.DECLINED, True)


def test_a_question_edited_while_it_is_answered_is_answered_in_its_new_form(room: Room) -> None:
    go = Event()
    room.answer = lambda question: (go.wait(10), made_up(question))[1]
    asked = room.ask(room.topic().topic_id, "what is a krypton bucket?")
    room.until(lambda: (found := room.ledger.load(asked.id)) and found.state is AskState.ANSWERING)
    room.practice.forum.edit_post(
        room.member("windy_jane"), post_id=asked.id, raw="@threadcite what is a xenon bucket?"
    )
    go.set()
    room.ended(asked.id)
    (reply,) = room.replies(asked.topic_id)
    assert "xenon" in reply.raw
    assert "krypton" not in reply.raw


def test_an_edit_that_the_webhook_lost_is_seen_before_posting(room: Room) -> None:
    go = Event()
    room.answer = lambda question: (go.wait(10), made_up(question))[1]
    asked = room.ask(room.topic().topic_id, "what is a krypton bucket?")
    room.until(lambda: (found := room.ledger.load(asked.id)) and found.state is AskState.ANSWERING)
    room.practice.fail("webhooks", "drop", count=5)
    room.practice.forum.edit_post(
        room.member("windy_jane"), post_id=asked.id, raw="@threadcite what is a xenon bucket?"
    )
    go.set()
    room.ended(asked.id)
    assert ["xenon" in reply.raw for reply in room.replies(asked.topic_id)] == [True]


def test_a_question_deleted_before_the_reply_gets_none(room: Room) -> None:
    go = Event()
    room.answer = lambda question: (go.wait(10), made_up(question))[1]
    asked = room.ask(room.topic().topic_id)
    room.until(lambda: (found := room.ledger.load(asked.id)) and found.state is AskState.ANSWERING)
    room.practice.forum.delete_post(room.member("windy_jane"), post_id=asked.id)
    go.set()
    assert room.ended(asked.id).state in (AskState.DISCARDED, AskState.DECLINED)
    assert room.replies(asked.topic_id) == []
    room.until(lambda: room.ledger.load(asked.id).question == "")  # type: ignore[union-attr]


@pytest.mark.parametrize(("choice", "left"), [("leave", 1), ("remove", 0)])
def test_a_reply_whose_question_is_deleted_is_left_or_removed(room: Room, choice: str, left: int) -> None:
    room.set("bot", orphan_reply=choice)
    asked = room.ask(room.topic().topic_id)
    room.ended(asked.id)
    room.practice.forum.delete_post(room.member("windy_jane"), post_id=asked.id)
    room.until(lambda: room.ledger.load(asked.id).question == "")  # type: ignore[union-attr]
    room.until(lambda: len(room.replies(asked.topic_id)) == left)


def test_the_same_answer_twice_within_minutes_is_not_too_similar(room: Room) -> None:
    room.answer = lambda question: replace(made_up(question), text="The forum has the same answer to all of this.")
    first, second = room.ask(room.topic().topic_id), room.ask(room.topic().topic_id, by="hexley")
    assert [room.ended(first.id).state, room.ended(second.id).state] == [AskState.POSTED] * 2


def test_more_replies_in_a_row_than_the_forum_allows_wait_for_somebody_else(room: Room) -> None:
    topic = room.topic().topic_id
    asked = [room.ask(topic, by=name) for name in ("windy_jane", "hexley", "gustav", "nadia_b", "kestrel_ab")]
    room.until(lambda: len(room.replies(topic)) == 3)
    room.until(lambda: any("somebody else" in room.ledger.load(post.id).note for post in asked))  # type: ignore[union-attr]
    room.say(topic, "Let me say something in between, so that it may go on.")
    room.until(lambda: len(room.replies(topic)) == 5, 90)


def test_a_placeholder_is_edited_once_into_the_reply(room: Room) -> None:
    room.set("bot", placeholder=True)
    go = Event()
    room.answer = lambda question: (go.wait(20), made_up(question))[1]
    asked = room.ask(room.topic().topic_id)
    (placeholder,) = room.until(lambda: room.replies(asked.topic_id))
    assert "Looking" in placeholder.raw
    go.set()
    assert room.ended(asked.id).reply_post_id == placeholder.id
    (reply,) = room.replies(asked.topic_id)
    assert "This is what the forum knows" in reply.raw


@pytest.mark.parametrize("kind", ["refuse", "drop-after-store", "500-after-store", "500", "403", "429-json"])
def test_a_placeholder_that_fails_leaves_one_reply_all_the_same(room: Room, kind: str) -> None:
    room.set("bot", placeholder=True)
    room.practice.fail("posts.create", kind, user="threadcite", params={"wait": 1} if kind == "429-json" else {})
    asked = room.ask(room.topic().topic_id)
    room.ended(asked.id)
    (reply,) = room.replies(asked.topic_id)
    assert "This is what the forum knows" in reply.raw


@pytest.mark.parametrize("late", [False, True])
def test_a_placeholder_that_was_approved_too_late_is_taken_away(room: Room, late: bool) -> None:
    room.set("bot", placeholder=True)
    go = Event()
    room.answer = lambda question: (go.wait(20), made_up(question))[1]
    room.practice.fail("posts.create", "enqueued", user="threadcite", count=1)
    asked = room.ask(room.topic().topic_id)
    room.until(lambda: (ask := room.ledger.load(asked.id)) and "approval" in ask.note)
    held = max(room.practice.forum.store.pending)
    if late:
        go.set()
        assert room.ended(asked.id).state is AskState.POSTED
    shown = room.practice.forum.approve(room.member("maelle"), held)
    room.until(lambda: shown.id not in [one.id for one in room.replies(asked.topic_id)])
    go.set()
    assert room.ended(asked.id).state is AskState.POSTED
    (reply,) = room.replies(asked.topic_id)
    assert "This is what the forum knows" in reply.raw


def test_a_placeholder_that_somebody_deleted_leaves_one_reply(room: Room) -> None:
    room.set("bot", placeholder=True)
    go = Event()
    room.answer = lambda question: (go.wait(20), made_up(question))[1]
    asked = room.ask(room.topic().topic_id)
    (held,) = room.until(lambda: room.replies(asked.topic_id))
    room.practice.forum.delete_post(room.member("maelle"), post_id=held.id)
    go.set()
    assert room.ended(asked.id).state is AskState.POSTED
    assert ["This is what" in one.raw for one in room.replies(asked.topic_id)] == [True]


def test_a_placeholder_goes_with_its_question(room: Room) -> None:
    room.set("bot", placeholder=True)
    go = Event()
    room.answer = lambda question: (go.wait(20), made_up(question))[1]
    asked = room.ask(room.topic().topic_id)
    room.until(lambda: room.replies(asked.topic_id))
    room.practice.forum.delete_post(room.member("windy_jane"), post_id=asked.id)
    room.until(lambda: not room.replies(asked.topic_id))
    go.set()


def test_a_first_post_that_asks_gets_one_reply_after_a_lost_answer(room: Room) -> None:
    room.practice.fail("posts.create", "drop-after-store", user="threadcite")
    forum = room.practice.forum
    raw = "@threadcite how does this gauge of mine tip, please?"
    asked = forum.create_post(room.member(), raw, title="How does this gauge of mine tip?", category=1)
    assert room.ended(asked.id, 60).state is AskState.POSTED
    assert len(room.replies(asked.topic_id)) == 1


def test_a_reply_that_nobody_approves_fails_in_the_end(room: Room) -> None:
    room.practice.fail("posts.create", "enqueued", user="threadcite")
    asked = room.ask(room.topic().topic_id)
    assert room.ended(asked.id).state is AskState.ENQUEUED
    with room.database.connection() as connection:
        query = "UPDATE ask SET posting_at = now() - interval '15 days', next_try_at = now() WHERE post_id = %s"
        connection.execute(query, [asked.id])
    room.until(lambda: room.ledger.load(asked.id).state is AskState.FAILED, 60)  # type: ignore[union-attr]


def test_a_question_edited_while_its_reply_waits_for_the_forum_is_answered_in_its_new_form(room: Room) -> None:
    room.practice.fail("posts.create", "503", user="threadcite")
    asked = room.ask(room.topic().topic_id, "what is a krypton bucket?")
    room.until(lambda: (found := room.ledger.load(asked.id)) and found.note)
    room.practice.forum.edit_post(room.member(), post_id=asked.id, raw="@threadcite what is a xenon bucket?")
    room.ended(asked.id, 60)
    assert ["xenon" in reply.raw for reply in room.replies(asked.topic_id)] == [True]
