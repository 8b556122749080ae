"""Several accounts of the bot in one process: each mention is answered by the one that was meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from clients.postgres.pool import Database
from demo.runner import ADMIN_KEY, PracticeForum
from demo.settings import Settings
from forum.ask import Ask, AskState
from forum.ports import Embedder
from tests.integration.bot.conftest import SECRET, Room, fresh_database, made_up

#: Members of the practice forum who serve as accounts here.
SONDE, GUSTAV = "radiosonde", "gustav"


@pytest.fixture(scope="module")
def pair(postgres_url: str, template_database: str, embedder: Embedder) -> Iterator[Room]:
    """A sidecar with two personas and a key for all users, as several accounts need."""
    url = fresh_database(postgres_url, template_database)
    with pytest.MonkeyPatch.context() as patch, Database(url, max_size=16) as database:
        patch.setattr("tests.integration.bot.conftest.BOT_KEY", ADMIN_KEY)
        with PracticeForum(settings=Settings()) as forum:
            made = Room(database, forum, embedder, {})
            made.reset()
            narrow = {"per_member_per_hour": 2, "per_trust_level": {}}
            made.settings["personas"] = [{"username": SONDE}, {"username": GUSTAV, "limits": narrow}]
            made.answer = lambda question: replace(made_up(question), text=f"As {question.persona}: {question.text}")
            try:
                forum.add_hook(f"{made.start_web()}/webhooks/discourse", SECRET)
                made.start_worker()
                yield made
            finally:
                made.stop()


def written_by(room: Room, username: str, topic_id: int) -> list[Any]:
    store = room.practice.forum.store
    author = store.user_named(username).id
    return [p for p in store.posts.values() if p.topic_id == topic_id and p.user_id == author and not p.deleted_at]


def test_the_account_that_was_mentioned_answers(pair: Room) -> None:
    asked = pair.say(pair.topic().topic_id, f"@{SONDE} how does the gauge tip?")
    assert pair.ended(asked.id).state is AskState.POSTED
    [reply] = written_by(pair, SONDE, asked.topic_id)
    assert "As radiosonde: how does the gauge tip?" in reply.raw
    assert pair.replies(asked.topic_id) == []


def test_a_reply_to_a_persona_is_meant_for_it(pair: Room) -> None:
    asked = pair.say(pair.topic().topic_id, f"@{SONDE} how does the gauge tip?")
    first = pair.ended(asked.id)
    follow_up = pair.say(asked.topic_id, "And in winter?", reply_to=first.reply_post_number)
    assert pair.ended(follow_up.id).persona == SONDE
    assert len(written_by(pair, SONDE, asked.topic_id)) == 2


def test_the_bot_itself_answers_when_it_is_mentioned_too(pair: Room) -> None:
    asked = pair.say(pair.topic().topic_id, f"@{SONDE} @threadcite how does the gauge tip?")
    assert pair.ended(asked.id).persona == ""
    assert len(pair.replies(asked.topic_id)) == 1


def test_personas_do_not_answer_each_other(pair: Room) -> None:
    asked = pair.say(pair.topic().topic_id, f"@{GUSTAV} thinks about this, I mean it", by=SONDE)
    pair.until(lambda: pair.received(asked.id))
    assert pair.ledger.load(asked.id) is None


def test_each_has_its_own_limit(pair: Room) -> None:
    def asked(persona: str) -> Ask:
        return pair.ended(pair.say(pair.topic().topic_id, f"@{persona} how does the gauge tip?", by="petrichor").id)

    asked(GUSTAV)
    asked(GUSTAV)
    assert asked(GUSTAV).reason == "limit:member"
    assert asked(SONDE).state is AskState.POSTED


def test_a_persona_that_left_the_config_answers_no_more(pair: Room) -> None:
    kept = pair.settings["personas"]
    pair.set("bot", mode="shadow")
    asked = pair.say(pair.topic().topic_id, f"@{GUSTAV} how does the gauge tip?", by="windy_jane")
    assert pair.ended(asked.id).state is AskState.SHADOWED
    try:
        pair.settings = {**pair.settings, "personas": []}
        later = pair.say(asked.topic_id, f"@{GUSTAV} how does the gauge tip now?")
        pair.until(lambda: pair.received(later.id))
        assert pair.ledger.load(later.id) is None
    finally:
        pair.settings = {**pair.settings, "personas": kept}
