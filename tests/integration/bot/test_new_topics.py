"""A member opens a topic: links to older ones where that is switched on, once, and never after a person answered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from demo.store import Event
from forum.ask import AskState
from forum.types import Answer, Question, Route
from tests.integration.bot.conftest import Room, made_up

ON = {"enabled": True, "category_ids": [1], "how": "reply"}


def pointing(question: Question) -> Answer:
    assert question.opening
    return replace(made_up(question), text=f"Older topics on: {question.title}")


def silent(question: Question) -> Answer:
    return replace(made_up(question), route=Route.ABSTAINED, text="")


@pytest.fixture
def watching(room: Room) -> Room:
    room.set("new_topics", **ON)
    room.answer = pointing
    return room


def ended(room: Room, post: Any) -> AskState:
    return room.ended(post.id).state


def test_it_is_off_by_default(room: Room) -> None:
    opened = room.topic()
    room.until(lambda: room.received(opened.id))
    assert room.ledger.load(opened.id) is None


def test_a_new_topic_gets_one_reply_with_the_links(watching: Room) -> None:
    opened = watching.topic("How does a rain gauge tip when it snows?")
    assert ended(watching, opened) is AskState.POSTED
    [reply] = watching.replies(opened.topic_id)
    assert reply.raw == "Older topics on: How does a rain gauge tip when it snows?"


def test_without_a_close_topic_nothing_is_posted(watching: Room) -> None:
    watching.answer = silent
    opened = watching.topic()
    assert ended(watching, opened) is AskState.DECLINED
    assert watching.replies(opened.topic_id) == []


def test_other_categories_are_left_alone(watching: Room) -> None:
    watching.set("new_topics", **{**ON, "category_ids": [2]})
    opened = watching.topic()
    watching.until(lambda: watching.received(opened.id))
    assert watching.ledger.load(opened.id) is None


def test_an_edit_or_a_second_delivery_makes_no_second_reply(watching: Room) -> None:
    opened = watching.topic()
    assert ended(watching, opened) is AskState.POSTED
    watching.practice.forum.edit_post(
        watching.member(), opened.id, "Another way to ask the same about the gauge's tip?"
    )
    watching.until_idle()
    assert len(watching.replies(opened.topic_id)) == 1


def test_nothing_is_posted_after_a_person_answered(watching: Room) -> None:
    def slow(question: Question) -> Answer:
        watching.say(question.topic_id or 0, "It tips at 0.2 mm, look at the manual.", by="hexley")
        return pointing(question)

    watching.answer = slow
    opened = watching.topic()
    assert ended(watching, opened) is AskState.DECLINED
    assert watching.replies(opened.topic_id) == []


def test_as_a_draft_it_waits_for_staff(watching: Room) -> None:
    watching.set("new_topics", **{**ON, "how": "draft"})
    watching.set("bot", draft_as="page")
    opened = watching.topic()
    assert ended(watching, opened) is AskState.DRAFT
    watching.approve(opened.id)
    watching.until(lambda: len(watching.replies(opened.topic_id)) == 1)


def test_a_mention_in_the_first_post_is_a_question_like_any_other(room: Room) -> None:
    room.set("new_topics", **ON)
    forum = room.practice.forum
    raw = "@threadcite how does the new rain gauge of the station tip when it snows?"
    opened = forum.create_post(room.member(), raw, title="A question about the tip of gauges", category=1)
    assert (room.ended(opened.id).kind, len(room.replies(opened.topic_id))) == ("mention", 1)


def mention(room: Room, opened: Any) -> None:
    room.answer = made_up
    room.practice.forum.edit_post(room.member(), opened.id, "@threadcite how does it tip when it snows, please?")


def answered(room: Room, opened: Any) -> None:
    """One reply, and it is the answer."""
    room.until(lambda: any("This is what the forum knows" in one.raw for one in room.replies(opened.topic_id)))
    room.until_idle()
    assert ended(room, opened) is AskState.POSTED
    assert len(room.replies(opened.topic_id)) == 1


def test_a_mention_that_an_edit_adds_later_is_answered_in_place_of_the_links(watching: Room) -> None:
    opened = watching.topic()
    assert ended(watching, opened) is AskState.POSTED
    mention(watching, opened)
    answered(watching, opened)


def test_the_answer_comes_as_a_new_reply_where_the_links_are_gone(watching: Room) -> None:
    opened = watching.topic()
    assert ended(watching, opened) is AskState.POSTED
    [links] = watching.replies(opened.topic_id)
    watching.practice.forum.delete_post(watching.member("maelle"), post_id=links.id)
    mention(watching, opened)
    answered(watching, opened)


def test_a_mention_that_an_edit_adds_is_answered_where_no_links_were_found(watching: Room) -> None:
    watching.answer = silent
    opened = watching.topic()
    assert ended(watching, opened) is AskState.DECLINED
    mention(watching, opened)
    answered(watching, opened)


def test_a_mention_that_an_edit_adds_meanwhile_is_answered_and_no_links_are_posted(watching: Room) -> None:
    def slow(question: Question) -> Answer:
        if not question.opening:
            return made_up(question)
        mention(watching, opened)
        watching.until(lambda: watching.ledger.load(opened.id).kind == "mention")  # type: ignore[union-attr]
        watching.answer = made_up
        return pointing(question)

    watching.answer = slow
    opened = watching.topic()
    answered(watching, opened)


def test_an_edit_without_a_mention_leaves_the_links_on_their_way(watching: Room) -> None:
    def slow(question: Question) -> Answer:
        watching.practice.forum.edit_post(watching.member(), opened.id, "Another way to ask how the gauge tips, now.")
        watching.until(lambda: watching.received(opened.id))
        watching.answer = pointing
        return pointing(question)

    watching.answer = slow
    opened = watching.topic()
    assert ended(watching, opened) is AskState.POSTED


def test_an_unlisted_topic_is_passed_over_and_its_words_are_not_kept(watching: Room) -> None:
    watching.practice.fail("webhooks", "drop", count=1)
    opened = watching.topic()
    forum = watching.practice.forum
    hidden = replace(forum.store.topics[opened.topic_id], visible=False)
    forum.store.commit([hidden], [Event(type="post", name="post_created", record=opened)])
    assert ended(watching, opened) is AskState.DECLINED
    kept = watching.ledger.load(opened.id)
    assert kept is not None
    assert (kept.question, kept.title, watching.replies(opened.topic_id)) == ("", "", [])
