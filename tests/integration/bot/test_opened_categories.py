"""In an opened category the bot answers from it; a reply never outlives the right of its readers to its sources."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from forum.ask import AskState
from forum.ports import Embedder
from forum.types import Answer, Question
from tests.integration.bot.conftest import Room, made_up, sidecar
from tests.integration.bot.test_correct_itself import SECOND, cited, citing, text

#: Of the practice forum: a category that anemos_beta alone reads.
BETA, GROUP, PUBLIC = 12, "anemos_beta", 1
WORDS = "The next board wakes up every ninety seconds."


@pytest.fixture(scope="module")
def opened_room(postgres_url: str, template_database: str, embedder: Embedder) -> Iterator[Room]:
    with sidecar(postgres_url, template_database, embedder, opened_category_ids=[BETA]) as made:
        yield made


@pytest.fixture
def room(opened_room: Room) -> Room:
    """The sidecar with the beta category opened, its readers as at first, and the bot among them."""
    opened_room.reset()
    opened_room.set("indexer", opened_category_ids=[BETA])
    store, forum = opened_room.practice.forum.store, opened_room.practice.forum
    store.commit([replace(opened_room.member("threadcite"), groups=(GROUP,))], [])
    forum.restrict_category(opened_room.member("maelle"), BETA, [GROUP])
    opened_room.until(lambda: readers(opened_room) == 1)
    return opened_room


def readers(room: Room) -> int:
    with room.database.connection() as connection:
        query = "SELECT cardinality(group_ids) FROM category WHERE id = %s AND read_restricted"
        row = connection.execute(query, [BETA]).fetchone()
    return int(row[0]) if row else 0


def beta_post(room: Room) -> Any:
    said = room.say(room.topic(by="hexley", category=BETA).topic_id, WORDS, by="hexley")
    with room.database.connection() as connection:
        query = "SELECT 1 FROM post WHERE id = %s AND text IS NOT NULL"
        room.until(lambda: connection.execute(query, [said.id]).fetchone())
    return said


def cited_in_beta(room: Room) -> Any:
    """A question in the opened category whose reply cites a post of it."""
    source = beta_post(room)
    room.answer = citing(room, source)
    asked = room.ask(room.topic(category=BETA).topic_id)
    assert room.ended(asked.id).state is AskState.POSTED
    assert WORDS in text(room, asked)
    return asked


def test_a_question_in_an_opened_category_is_answered_from_it(room: Room) -> None:
    cited_in_beta(room)


def test_without_the_opening_it_is_declined(room: Room) -> None:
    asked = room.ask(room.topic(category=11, by="maelle").topic_id, by="maelle")
    assert room.ended(asked.id).state is AskState.DECLINED


def test_a_change_of_the_list_needs_no_restart(room: Room) -> None:
    before = beta_post(room)
    room.set("indexer", opened_category_ids=[])
    with room.database.connection() as connection:
        query = "SELECT 1 FROM post WHERE id = %s AND text IS NOT NULL"
        room.until(lambda: not connection.execute(query, [before.id]).fetchone(), 60)
        unseen = room.say(room.topic(by="hexley", category=BETA).topic_id, WORDS, by="hexley")
        room.until(lambda: connection.execute("SELECT 1 FROM post WHERE id = %s", [unseen.id]).fetchone())
        assert not connection.execute(query, [unseen.id]).fetchone()
    room.set("indexer", opened_category_ids=[BETA])
    beta_post(room)


def test_an_answer_in_a_public_topic_that_cites_it_is_made_anew(room: Room) -> None:
    source = beta_post(room)
    made: list[Question] = []

    def answer(question: Question) -> Answer:
        made.append(question)
        return citing(room, source)(question) if len(made) == 1 else made_up(question)

    room.answer = answer
    asked = room.ask(room.topic().topic_id)
    assert room.ended(asked.id).state is AskState.POSTED
    assert (len(made), WORDS in text(room, asked)) == (2, False)


def test_a_reply_loses_its_sources_when_its_topic_moves_to_where_everyone_reads(room: Room) -> None:
    asked = cited_in_beta(room)
    room.practice.forum.edit_topic(room.member("maelle"), topic_id=asked.topic_id, category_id=PUBLIC)
    room.until(lambda: WORDS not in text(room, asked))


def test_a_reply_loses_its_sources_when_they_move_where_only_some_of_its_readers_read(room: Room) -> None:
    source, _, asked = cited(room)
    room.practice.forum.edit_topic(room.member("maelle"), topic_id=source.topic_id, category_id=BETA)
    room.until(lambda: source.raw not in text(room, asked))
    assert SECOND in text(room, asked)


def test_a_public_reply_loses_its_sources_when_their_category_is_closed(room: Room) -> None:
    forum, maelle = room.practice.forum, room.member("maelle")
    forum.restrict_category(maelle, BETA, None)
    room.until(lambda: readers(room) == 0)
    source = beta_post(room)
    room.answer = citing(room, source)
    asked = room.ask(room.topic().topic_id)
    assert room.ended(asked.id).state is AskState.POSTED
    forum.restrict_category(maelle, BETA, [GROUP])
    room.until(lambda: WORDS not in text(room, asked))


def test_another_group_that_reads_thread_and_sources_alike_changes_nothing(room: Room) -> None:
    asked = cited_in_beta(room)
    room.practice.forum.restrict_category(room.member("maelle"), BETA, [GROUP, "staff"])
    room.until(lambda: readers(room) == 2)
    room.until_idle()
    assert WORDS in text(room, asked)
