"""Approve, edit and discard, through the ledger's own states."""

from __future__ import annotations

import pytest

from clients.postgres.ledger import Ledger

from .conftest import Pages


def jobs(pages: Pages) -> int:
    with pages.database.connection() as connection:
        row = connection.execute("SELECT count(*) FROM procrastinate_jobs WHERE task_name = 'answer'").fetchone()
    return int(row[0]) if row else 0


@pytest.mark.parametrize("state", ["draft", "shadowed"])
def test_an_approved_draft_goes_to_the_worker(pages: Pages, state: str) -> None:
    pages.ask(3, state=state)
    assert pages.post("/drafts/3", do="approve", reply="It tips twice a minute [[1]].").status_code == 303
    ask = Ledger(pages.database).load(3)
    assert ask is not None
    assert (ask.state.value, ask.approved, ask.reply_raw) == ("ready", True, "It tips twice a minute [[1]].")
    assert jobs(pages) == 1


def test_an_edited_draft_is_posted_with_the_new_words(pages: Pages) -> None:
    pages.ask(3, state="draft")
    pages.post("/drafts/3", do="approve", reply="Twice.\r\nOr so.")
    ask = Ledger(pages.database).load(3)
    assert ask is not None
    assert ask.reply_raw == "Twice.\nOr so."
    assert ask.reason == "approved by admin"


def test_a_discarded_draft_is_never_posted(pages: Pages) -> None:
    pages.ask(3, state="draft")
    pages.post("/drafts/3", do="discard")
    ask = Ledger(pages.database).load(3)
    assert ask is not None
    assert ask.state.value == "discarded"
    assert jobs(pages) == 0
    assert "No drafts wait" in pages.get("/drafts")


def test_a_second_approval_says_that_it_moved_on(pages: Pages) -> None:
    pages.ask(3, state="draft")
    pages.post("/drafts/3", do="approve", reply="Twice.")
    assert pages.post("/drafts/3", do="approve", reply="Thrice.").status_code == 409
    assert jobs(pages) == 1


def test_an_emptied_draft_is_not_posted(pages: Pages) -> None:
    pages.ask(3, state="draft")
    assert pages.post("/drafts/3", do="approve", reply="  ").status_code == 409
    assert jobs(pages) == 0
