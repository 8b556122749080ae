"""A mention gets one reply, through the real web app, queue, worker and a practice forum."""

from __future__ import annotations

from forum.ask import AskState
from tests.integration.bot.conftest import Room


def test_a_mention_is_answered_once_as_a_reply_to_the_asking_post(room: Room) -> None:
    asked = room.ask(room.topic().topic_id, "how does the gauge tip?")
    ask = room.ended(asked.id)
    (reply,) = room.replies(asked.topic_id)
    assert (ask.state, ask.reply_post_id) == (AskState.POSTED, reply.id)
    assert reply.reply_to == asked.post_number
    assert "how does the gauge tip?" in reply.raw
