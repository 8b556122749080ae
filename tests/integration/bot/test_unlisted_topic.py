"""A post in an old topic that the index never saw: whether the topic is listed is asked, not assumed."""

from __future__ import annotations

from tests.integration.bot.conftest import Room


def test_a_reply_in_an_unlisted_topic_is_not_public(room: Room) -> None:
    unlisted = next(topic.id for topic in room.practice.forum.store.topics.values() if not topic.visible)
    hidden = room.say(unlisted, "A reply that nobody finds in a list of topics.", by="maelle")
    shown = room.say(room.topic(by="hexley").topic_id, "A reply that everybody may find.", by="hexley")
    room.until(lambda: shown.id in room.ledger.public_texts([shown.id, hidden.id]))
    room.until_idle()
    assert hidden.id not in room.ledger.public_texts([shown.id, hidden.id])
