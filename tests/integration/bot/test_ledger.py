"""The ledger moves an ask on only for the worker that holds it, and only in its newest form."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from clients.postgres.ledger import Ledger
from clients.postgres.pool import Database
from forum.ask import Ask, Asking, AskState
from forum.types import Post

AT = datetime(2026, 1, 1, tzinfo=UTC)
ASKING = Asking(post_id=7, topic_id=3, post_number=2, user_id=8, question="How?", asked_at=AT, form=AT)


@pytest.fixture
def ledger(database: Database) -> Ledger:
    made = Ledger(database)
    record(database, made, ASKING)
    return made


def record(database: Database, ledger: Ledger, asking: Asking) -> bool:
    with database.transaction() as connection:
        return ledger.record(connection, asking)


def begun(ledger: Ledger) -> Ask:
    ask = ledger.begin(7)
    assert ask is not None
    return ask


def on_its_way(ledger: Ledger) -> Ask:
    ready = ledger.ready(begun(ledger), reply_raw="So.")
    assert ready is not None
    sent = ledger.posting(ready, reply_raw="So.", outcome=AskState.POSTED)
    assert sent is not None
    return sent


def test_a_second_delivery_opens_no_second_ask(database: Database, ledger: Ledger) -> None:
    assert not record(database, ledger, ASKING)
    begun(ledger)
    assert not record(database, ledger, replace(ASKING, form=AT + timedelta(1)))


def test_a_newer_form_replaces_the_question_and_an_older_one_does_not(database: Database, ledger: Ledger) -> None:
    record(database, ledger, replace(ASKING, question="Why?", form=AT + timedelta(1)))
    record(database, ledger, replace(ASKING, question="What?", form=AT - timedelta(1)))
    assert ledger.load(7).question == "Why?"  # type: ignore[union-attr]


def test_a_worker_that_was_believed_dead_moves_nothing(ledger: Ledger) -> None:
    dead = begun(ledger)
    alive = begun(ledger)
    assert ledger.ready(dead, reply_raw="Late.") is None
    assert ledger.ready(alive, reply_raw="In time.") is not None


def test_an_answer_to_the_old_words_is_not_kept(database: Database, ledger: Ledger) -> None:
    ask = begun(ledger)
    record(database, ledger, replace(ASKING, question="Why?", form=AT + timedelta(1)))
    assert ledger.ready(ask, reply_raw="Because of how.") is None


def test_a_reply_that_was_ready_is_made_anew_for_new_words_only(database: Database, ledger: Ledger) -> None:
    ready = ledger.ready(begun(ledger), reply_raw="So.")
    assert ready is not None
    record(database, ledger, replace(ASKING, form=AT + timedelta(1)))
    assert ledger.load(7).state is AskState.READY  # type: ignore[union-attr]
    record(database, ledger, replace(ASKING, question="Why?", form=AT + timedelta(2)))
    assert ledger.posting(ready, reply_raw="So.", outcome=AskState.POSTED) is None
    assert ledger.anew(ready).question == "Why?"  # type: ignore[union-attr]


def test_a_question_edited_after_the_reply_left_changes_nothing(database: Database, ledger: Ledger) -> None:
    on_its_way(ledger)
    record(database, ledger, replace(ASKING, question="Why?", form=AT + timedelta(1)))
    assert ledger.load(7).question == "How?"  # type: ignore[union-attr]


def test_a_reply_that_is_on_its_way_is_not_withdrawn(database: Database, ledger: Ledger) -> None:
    on_its_way(ledger)
    with database.transaction() as connection:
        assert ledger.withdraw(connection, [7], state=AskState.DISCARDED, reason="gone") == []


def test_whoever_says_that_the_reply_stands_is_right_and_the_first_one_counts(ledger: Ledger) -> None:
    sent = on_its_way(ledger)
    begun(ledger)
    assert ledger.posted(sent, reply_post_id=70, reply_post_number=3).state is AskState.POSTED  # type: ignore[union-attr]
    assert ledger.posted(sent, reply_post_id=71, reply_post_number=4) is None
    assert ledger.begin(7) is None


def test_our_own_reply_in_a_delivery_ends_the_ask(database: Database, ledger: Ledger) -> None:
    on_its_way(ledger)
    reply = Post(id=70, topic_id=3, post_number=3, cooked="", created_at=AT, updated_at=AT, username="threadcite")
    with database.transaction() as connection:
        ledger.saw_own_reply(connection, topic_id=3, post_number=2, reply=reply, whisper=False)
    ask = ledger.load(7)
    assert ask is not None
    assert (ask.state, ask.reply_post_id) == (AskState.POSTED, 70)


def test_an_open_ask_without_a_job_is_stranded(database: Database, ledger: Ledger) -> None:
    with database.connection() as connection:
        connection.execute("UPDATE ask SET updated_at = now() - interval '2 minutes'")
    assert ledger.stranded() == [(7, 3, 8)]


def test_only_a_draft_can_be_approved(ledger: Ledger) -> None:
    assert ledger.approve(7) is None
    ready = ledger.ready(begun(ledger), reply_raw="So.")
    assert ready is not None
    ledger.finish(ready, AskState.DRAFT)
    approved = ledger.approve(7, reply_raw="So it is.", by="oskar")
    assert approved is not None
    assert (approved.state, approved.approved, approved.reply_raw) == (AskState.READY, True, "So it is.")
