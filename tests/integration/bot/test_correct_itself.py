"""A reply is edited within a minute when a post that it cites is deleted, hidden, closed off or rewritten."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clients.document_files import DocumentFile
from clients.postgres.document_store import DocumentStore
from forum.ask import AskState
from forum.ports import Embedder
from forum.types import Answer, Candidate, Citation, Passage, Question, Route, Zone
from tests.integration.bot.conftest import Room, made_up

FIRST, SECOND = "The first bucket tips at two millimetres.", "The second bucket is emptied by hand."


def citing(room: Room, *posts: Any) -> Callable[[Question], Answer]:
    """An answer with a sentence and a source for each post, as the renderer writes it."""

    def answer(question: Question) -> Answer:
        citations = tuple(
            Citation(
                n=n,
                url=f"{room.practice.url}/t/x/{post.topic_id}/{post.post_number}",
                post_id=post.id,
                topic_id=post.topic_id,
                post_number=post.post_number,
                quote=post.raw,
            )
            for n, post in enumerate(posts, 1)
        )
        body = " ".join(f"{c.quote} [[{c.n}]]({c.url})" for c in citations)
        sources = "\n".join(f"- {c.n}: [A topic]({c.url})\n  > {c.quote}" for c in citations)
        return replace(
            made_up(question),
            text=f"{body}\n\n**Sources**\n\n{sources}",
            citations=citations,
            sources=tuple(
                Candidate(passage=Passage(content_id=f"post:{p.id}:1", post_id=p.id, title="A topic", text=p.raw))
                for p in posts
            ),
            zone=Zone.OK,
            route=Route.ANSWERED,
        )

    return answer


def cited(room: Room) -> tuple[Any, Any, Any]:
    """Two posts in topics of their own, indexed, and a reply that cites both."""
    posts = [room.say(room.topic(by="hexley").topic_id, text, by="hexley") for text in (FIRST, SECOND)]
    room.until(lambda: len(room.ledger.public_texts([post.id for post in posts])) == 2)
    room.answer = citing(room, *posts)
    asked = room.ask(room.topic().topic_id)
    assert room.ended(asked.id).state is AskState.POSTED
    return posts[0], posts[1], asked


def test_an_answer_costs_a_look_at_the_question_and_at_each_cited_post_and_the_reply(room: Room) -> None:
    """The forum allows sixty requests a minute to all keys together."""
    first, second, _ = cited(room)
    room.until_idle()
    topic = room.topic()
    room.until(lambda: room.ledger.public_texts([topic.id]))
    del room.told.requests[:]
    asked = room.ask(topic.topic_id)
    assert room.ended(asked.id).state is AskState.POSTED
    room.until_idle()
    # The catch-up, which runs by the clock, asks about topics of its own.
    topics = {f"GET /t/{one.topic_id}.json" for one in (asked, first, second)}
    looked = [one for one in room.told.requests if not one.startswith("GET /t/") or one in topics]
    looked = [one for one in looked if one != "GET /posts.json"]
    assert sorted(looked) == sorted(
        ["POST /posts.json", *(f"GET /posts/{one.id}.json" for one in (asked, first, second))]
    )


def test_the_trace_tells_how_the_reply_was_posted(room: Room) -> None:
    _, _, asked = cited(room)
    trace = room.until(lambda: (t := room.ledger.trace_of(asked.id)) and t["stages"] and t)
    posting = trace["stages"][-1]
    assert (posting["stage"], posting["decision"]) == ("post", "posted")
    assert [one["call"] for one in posting["calls"]] == ["post", "post", "post", "create_post"]
    assert {one["outcome"] for one in posting["calls"]} == {"ok"}


def text(room: Room, asked: Any) -> str:
    (reply,) = room.replies(asked.topic_id)
    return str(reply.raw)


def by_author(room: Room, post: Any) -> None:
    room.practice.forum.delete_post(room.member("hexley"), post_id=post.id)


def by_staff(room: Room, post: Any) -> None:
    room.practice.forum.delete_post(room.member("maelle"), post_id=post.id)


def with_its_topic(room: Room, post: Any) -> None:
    room.practice.forum.delete_topic(room.member("maelle"), topic_id=post.topic_id)


def moved_to_staff(room: Room, post: Any) -> None:
    room.practice.forum.edit_topic(room.member("maelle"), topic_id=post.topic_id, category_id=11)


def rewritten(room: Room, post: Any) -> None:
    room.practice.forum.edit_post(room.member("hexley"), post_id=post.id, raw="I was wrong about all of that, sorry.")


@pytest.mark.parametrize("change", [by_author, by_staff, with_its_topic, moved_to_staff, rewritten])
def test_what_rested_on_a_source_that_went_is_taken_out(room: Room, change: Callable[[Room, Any], None]) -> None:
    first, _, asked = cited(room)
    change(room, first)
    room.until(lambda: FIRST not in text(room, asked))
    assert SECOND in text(room, asked)
    assert "[[1]]" not in text(room, asked)
    assert "changed or removed" in text(room, asked)


def test_a_reply_that_has_nothing_left_says_so(room: Room) -> None:
    first, second, asked = cited(room)
    by_staff(room, first)
    by_staff(room, second)
    room.until(lambda: "nothing left" in text(room, asked))


def test_an_edit_that_keeps_the_quotation_changes_nothing(room: Room) -> None:
    first, _, asked = cited(room)
    before = text(room, asked)
    room.practice.forum.edit_post(room.member("hexley"), post_id=first.id, raw=f"{FIRST} And that is that.")
    room.until(lambda: "And that is that." in room.ledger.public_texts([first.id]).get(first.id, ""))
    room.until_idle()
    assert text(room, asked) == before


def test_a_deleted_post_leaves_the_stored_trace(room: Room) -> None:
    first, _, asked = cited(room)
    by_staff(room, first)
    room.until(lambda: FIRST not in str(room.ledger.trace_of(asked.id)))


def test_a_source_that_goes_while_the_answer_is_made_is_not_cited(room: Room) -> None:
    first = room.say(room.topic(by="hexley").topic_id, FIRST, by="hexley")
    asked_with: list[Question] = []

    def answer(question: Question) -> Answer:
        asked_with.append(question)
        if len(asked_with) > 1:
            return made_up(question)
        room.practice.fail("webhooks", "drop", count=9)
        by_staff(room, first)
        return citing(room, first)(question)

    room.answer = answer
    asked = room.ask(room.topic().topic_id)
    room.ended(asked.id)
    assert FIRST not in text(room, asked)
    assert len(asked_with) == 2


def test_what_rests_on_a_removed_document_goes(room: Room, embedder: Embedder, tmp_path: Path) -> None:
    (tmp_path / "gauge.md").write_text("# The gauge\n\nThe manual says that it tips at two millimetres.\n")
    store = DocumentStore(room.database, embedder, batch_tokens=8192)
    store.add("manual", DocumentFile(file=tmp_path / "gauge.md", path="gauge.md"))
    with room.database.connection() as connection:
        [(sha,)] = connection.execute("SELECT sha FROM section").fetchall()
    post = room.say(room.topic(by="hexley").topic_id, FIRST, by="hexley")
    room.until(lambda: room.ledger.public_texts([post.id]))
    plain = citing(room, post)

    def both(question: Question) -> Answer:
        given = plain(question)
        url = "https://docs.example.org/gauge.md"
        place = {"post_id": 0, "topic_id": 0, "post_number": 0}
        section = Citation(n=2, url=url, content_id=f"doc:{sha}", quote="it tips at two millimetres", **place)
        passage = Passage(content_id=f"doc:{sha}", title="The gauge", text="it tips", kind="document")
        return replace(
            given,
            text=given.text.replace("\n\n**Sources**", f" The manual agrees. [[2]]({url})\n\n**Sources**", 1),
            citations=(*given.citations, section),
            sources=(*given.sources, Candidate(passage=passage)),
        )

    room.answer = both
    asked = room.ask(room.topic().topic_id)
    assert room.ended(asked.id).state is AskState.POSTED
    assert "The manual agrees." in text(room, asked)
    store.remove("manual", None)
    room.until(lambda: "The manual agrees." not in text(room, asked), 60)
    assert FIRST in text(room, asked)
