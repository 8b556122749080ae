"""Modes, limits, loops, drafts and categories, through the whole sidecar."""

from __future__ import annotations

from threading import Event

from forum.ask import AskState
from tests.integration.bot.conftest import Room


def test_shadow_stores_the_answer_and_posts_nothing(room: Room) -> None:
    room.set("bot", mode="shadow")
    asked = room.ask(room.topic().topic_id)
    ask = room.ended(asked.id)
    assert (ask.state, bool(ask.reply_raw)) == (AskState.SHADOWED, True)
    assert room.replies(asked.topic_id) == []


def test_a_switch_of_mode_counts_for_the_next_reply_without_a_restart(room: Room) -> None:
    room.set("bot", mode="shadow")
    room.ended(room.ask(room.topic().topic_id).id)
    room.set("bot", mode="live")
    assert room.ended(room.ask(room.topic().topic_id).id).state is AskState.POSTED


def test_off_keeps_no_ask_at_all(room: Room) -> None:
    room.set("bot", mode="off")
    asked = room.ask(room.topic().topic_id)
    room.until(lambda: room.received(asked.id))
    assert room.ledger.load(asked.id) is None


def test_a_whisper_draft_is_for_staff_and_its_approval_posts_the_reply(room: Room) -> None:
    room.make_bot_staff()
    room.set("bot", mode="draft")
    asked = room.ask(room.topic().topic_id)
    assert room.ended(asked.id).state is AskState.DRAFT
    assert [reply.post_type for reply in room.replies(asked.topic_id)] == [4]
    room.approve(asked.id, reply_raw="A person has read this and found it to be right.")
    room.until(lambda: room.ledger.load(asked.id).state is AskState.POSTED)  # type: ignore[union-attr]
    assert [reply.post_type for reply in room.replies(asked.topic_id)] == [4, 1]


def test_a_draft_on_the_page_waits_there_and_can_be_discarded(room: Room) -> None:
    room.set("bot", mode="draft", draft_as="page")
    asked = room.ask(room.topic().topic_id)
    assert room.ended(asked.id).state is AskState.DRAFT
    assert room.ledger.discard(asked.id, by="oskar")
    assert room.replies(asked.topic_id) == []


def test_a_whisper_that_the_bot_may_not_write_waits_on_the_drafts_page(room: Room) -> None:
    room.make_bot_staff(False)
    room.set("bot", mode="draft", draft_as="whisper")
    asked = room.ask(room.topic().topic_id)
    ask = room.ended(asked.id)
    assert (ask.state, room.replies(asked.topic_id)) == (AskState.DRAFT, [])
    assert "bot.draft_as: page" in ask.note
    room.approve(asked.id)
    room.until(lambda: room.ledger.load(asked.id).state is AskState.POSTED)  # type: ignore[union-attr]
    assert [reply.post_type for reply in room.replies(asked.topic_id)] == [1]


def test_no_draft_is_edited_into_a_public_placeholder(room: Room) -> None:
    thought = Event()
    plain = room.answer
    room.answer = lambda question: (thought.wait(20), plain(question))[1]
    room.set("bot", placeholder=True)
    asked = room.ask(room.topic().topic_id)
    (placeholder,) = room.until(lambda: room.replies(asked.topic_id))
    room.set("bot", mode="draft", draft_as="whisper")
    thought.set()
    ask = room.ended(asked.id)
    assert ask.state is AskState.DRAFT
    assert all(one.raw == placeholder.raw for one in room.replies(asked.topic_id))


def test_a_member_over_the_limit_is_told_once_when_it_resets(room: Room) -> None:
    room.set("bot", limits={"per_member_per_hour": 2, "per_trust_level": {}})
    asks = []
    for _ in range(4):
        asks.append(room.ask(room.topic().topic_id, by="solarpete"))
        room.ended(asks[-1].id)
    assert [room.ended(ask.id).state.value for ask in asks] == ["posted", "posted", "declined", "declined"]
    (notice,) = room.replies(asks[2].topic_id)
    assert "UTC" in notice.raw
    assert room.replies(asks[3].topic_id) == []


def test_new_members_have_a_lower_limit(room: Room) -> None:
    room.set("bot", limits={"per_trust_level": {0: 1}})
    first = room.ask(room.topic().topic_id, by="newbie_noah")
    assert room.ended(first.id).state is AskState.POSTED
    second = room.ask(room.topic().topic_id, by="newbie_noah")
    assert room.ended(second.id).state is AskState.DECLINED


def test_two_bots_that_answer_each_other_stop(room: Room) -> None:
    """The other one is an account like any: it answers each of our replies at once."""
    topic = room.topic().topic_id
    room.ask(topic, by="radiosonde")
    for turn in range(8):
        replies = room.until(
            lambda seen=turn: (found := room.replies(topic)) and (len(found) > seen or _declined(room)) and found
        )
        if _declined(room):
            break
        room.say(topic, f"Beep, and again beep number {turn}.", by="radiosonde", reply_to=replies[-1].post_number)
    assert len(room.replies(topic)) == room.config().bot.limits.replies_in_a_row


def test_a_human_between_resets_the_loop_guard(room: Room) -> None:
    topic = room.topic().topic_id
    for name in ("kestrel_ab", "kestrel_ab", "gustav", "kestrel_ab", "kestrel_ab"):
        assert room.ended(room.ask(topic, by=name).id).state is AskState.POSTED


def test_a_denied_account_is_not_answered(room: Room) -> None:
    room.set("bot", deny_usernames=["Radiosonde"])
    asked = room.ask(room.topic().topic_id, by="radiosonde")
    room.until(lambda: room.received(asked.id))
    assert room.ledger.load(asked.id) is None


def test_a_reply_to_the_bot_is_for_it_unless_it_turns_to_somebody_else(room: Room) -> None:
    topic = room.topic().topic_id
    room.ended(room.ask(topic).id)
    reply = room.replies(topic)[0]
    turned = room.say(topic, "@hexley do you agree with that?", reply_to=reply.post_number)
    meant = room.say(topic, "And what about the second bucket?", reply_to=reply.post_number)
    assert room.ended(meant.id).kind == "reply"
    assert room.ledger.load(turned.id) is None


def test_a_follow_up_carries_the_chain_of_replies(room: Room) -> None:
    seen = []
    plain = room.answer
    room.answer = lambda question: (seen.append(question), plain(question))[1]
    topic = room.topic().topic_id
    room.ended(room.ask(topic, "how does the first bucket tip?").id)
    follow = room.say(topic, "And the second one?", reply_to=room.replies(topic)[0].post_number)
    room.ended(follow.id)
    turns = seen[-1].conversation
    assert [turn.is_bot for turn in turns] == [False, True]
    assert "first bucket" in turns[0].text
    assert "first bucket" in turns[1].text


def test_a_question_about_another_members_post_carries_that_post(room: Room) -> None:
    seen = []
    plain = room.answer
    room.answer = lambda question: (seen.append(question), plain(question))[1]
    topic = room.topic().topic_id
    said = room.say(topic, "Mine tips at half a millimetre, with a spring.", by="gustav")
    room.until(lambda: room.ledger.public_texts([said.id]))
    room.ended(room.ask(topic, "is that usual?", reply_to=said.post_number).id)
    assert [(turn.author, turn.is_bot) for turn in seen[-1].conversation] == [("gustav", False)]
    assert "half a millimetre" in seen[-1].conversation[0].text


def test_a_mention_in_a_restricted_category_or_a_message_stays_unanswered(room: Room) -> None:
    staff = room.topic("What do we do about the staff's own gauge?", by="maelle", category=11)
    asked = room.ask(staff.topic_id, by="maelle")
    assert room.ended(asked.id).state is AskState.DECLINED
    assert room.replies(asked.topic_id) == []
    message = room.practice.forum.create_post(
        room.member(), "@threadcite tell me a secret of my message.", title="A message to Hexley, and nobody else",
        archetype="private_message", recipients=["hexley"],
    )  # fmt: skip
    room.until(lambda: room.received(message.id))
    assert room.ledger.load(message.id) is None


def test_an_edit_that_adds_the_mention_counts(room: Room) -> None:
    said = room.say(room.topic().topic_id, "I wonder how the gauge tips.")
    room.practice.forum.edit_post(room.member(), post_id=said.id, raw="@threadcite I wonder how the gauge tips.")
    room.until(lambda: room.ledger.load(said.id))
    assert room.ended(said.id).state is AskState.POSTED


def test_a_mention_that_is_taken_away_and_given_back_is_answered(room: Room) -> None:
    plain, go = room.answer, Event()
    room.answer = lambda question: (go.wait(20), plain(question))[1]
    asked = room.ask(room.topic().topic_id)
    room.until(lambda: room.ledger.load(asked.id))
    edit, by = room.practice.forum.edit_post, room.member()
    edit(by, post_id=asked.id, raw="Let me think about it first, all on my own.")
    room.until(lambda: room.ledger.load(asked.id).state is AskState.DECLINED)  # type: ignore[union-attr]
    edit(by, post_id=asked.id, raw="@threadcite I thought about it: how does it tip?")
    go.set()
    room.until(lambda: room.ledger.load(asked.id).state is AskState.POSTED)  # type: ignore[union-attr]
    assert len(room.replies(asked.topic_id)) == 1


def test_a_first_post_edited_together_with_its_title_is_seen(room: Room) -> None:
    """The forum tells of the topic only."""
    first = room.topic()
    forum = room.practice.forum
    room.practice.fail("webhooks", "drop", count=1)
    forum.edit_post(room.member(), post_id=first.id, raw="@threadcite how does the gauge tip?")
    forum.edit_topic(room.member(), topic_id=first.topic_id, title="How do all rain gauges tip, then?")
    room.until(lambda: room.ledger.load(first.id))


def _declined(room: Room) -> bool:
    return room.ledger.counts().get("declined", 0) > room.declined_before
