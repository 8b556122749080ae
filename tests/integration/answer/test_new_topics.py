"""The older topics that a new one is pointed to: sure ones only, never itself, each with one verbatim line."""

from __future__ import annotations

from bot.new_topics import older_topics
from bot.tools import Tools
from bot.withdrawn import without_sources
from forum.types import Answer, Question, Route, Scope
from tests.integration.answer.conftest import NOW, with_

ASKED = "How do I calibrate the tipping bucket of my rain gauge with a syringe?"


def opened(tools: Tools, threshold: float, **more: object) -> Answer:
    config = with_(new_topics={"threshold": threshold, **more})
    question = Question(text=ASKED, title="Rain gauge calibration", asked_at=NOW, opening=True, topic_id=45)
    return older_topics(question, tools, config)


def test_sure_topics_are_linked_each_with_a_line_of_its_own(tools: Tools) -> None:
    given = opened(tools, -50)
    assert given.route is Route.ANSWERED
    assert 1 <= len(given.citations) <= 3
    for one in given.citations:
        passage = tools.index.passages([one.post_id], scope=Scope())[one.post_id]
        assert one.quote.rstrip("…") in " ".join(passage.text.split())
        assert f"]({one.url}): " in given.text


def test_unsure_it_keeps_silent(tools: Tools) -> None:
    given = opened(tools, 50)
    assert (given.route, given.text, given.citations) == (Route.ABSTAINED, "", ())
    assert "no older topic at 50 or above" in given.evaluation.reason


def test_the_new_topic_is_not_pointed_to_itself(tools: Tools) -> None:
    assert 45 not in {one.topic_id for one in opened(tools, -50).citations}


def test_the_number_of_links_is_the_configs(tools: Tools) -> None:
    assert len(opened(tools, -50, links=1).citations) == 1


def test_a_link_whose_post_is_deleted_can_be_taken_out(tools: Tools) -> None:
    given = opened(tools, -50, links=2)
    shorter = without_sources(given.text, {1}, note="(corrected)", nothing_left="(gone)")
    assert given.citations[0].url not in shorter
    assert given.citations[1].url in shorter
