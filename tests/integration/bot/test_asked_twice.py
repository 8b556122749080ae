"""A question that nobody answered is no answer to the next member who asks it, through the whole sidecar."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.answer import answer
from bot.tools import Tools
from clients.composition import build_reranker
from clients.discourse import DiscourseClient
from clients.discourse_source import DiscourseSource
from clients.postgres.index import PostgresIndex
from clients.postgres.ingest import Ingest
from forum.ask import AskState
from forum.ports import Embedder
from tests.integration.bot.conftest import Room

TITLE, FIRST = "Sourdough in the holidays", "How do I keep my sourdough starter alive during a holiday?"
AGAIN = "How can I keep a sourdough starter alive during the holiday?"
FED = "Keep the sourdough starter in the fridge: it stays alive during a holiday of three weeks without being fed."


@pytest.fixture
def asking(room: Room, embedder: Embedder) -> Room:
    """The practice forum is indexed, and the product's own stages answer."""
    forum = DiscourseClient(room.config().forum)
    ingest = Ingest(room.database, embedder, room.config())
    ingest.put_categories(forum.categories(), at=datetime.now(UTC))
    topics = DiscourseSource(forum, room.config()).topics()
    posts = [post for topic in topics for post in forum.topic_posts(topic.id)]
    ingest.ingest(posts, observed_at=datetime.now(UTC), complete_topics=True)
    ingest.refresh()
    index = PostgresIndex(room.database, embedder=embedder.model.name)
    tools = Tools(index=index, embedder=embedder, reranker=build_reranker(room.config().reranker))
    room.answer = lambda question: answer(question, tools, room.config())
    return room


def opened(room: Room, text: str, *, by: str) -> Any:
    """A topic of its own that asks the bot; returned once the bot is done with it and it can be found."""
    post = room.practice.forum.create_post(room.member(by), f"@threadcite {text}", title=f"{TITLE} {by}", category=1)
    room.until(lambda: room.ledger.public_texts([post.id]))
    return post


def test_who_asks_again_meets_the_same_silence_until_a_member_has_answered(asking: Room) -> None:
    first = opened(asking, FIRST, by="windy_jane")
    assert asking.ended(first.id).state is AskState.ABSTAINED
    again = opened(asking, AGAIN, by="hexley")
    assert asking.ended(again.id).state is AskState.ABSTAINED

    answered = asking.say(first.topic_id, FED, by="maelle")
    asking.until(lambda: asking.ledger.public_texts([answered.id]))
    last = opened(asking, FIRST, by="maelle")
    assert asking.ended(last.id).state is AskState.POSTED
    assert f"/{first.topic_id}/{answered.post_number}" in (asking.ended(last.id).reply_raw or "")
