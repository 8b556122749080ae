"""Calls are timed with their outcome, whoever makes them, and nothing of what was said is kept."""

from __future__ import annotations

from dataclasses import asdict
from threading import Event, Thread

import pytest

from bot.calls import CallLog, collected, collecting, timed
from bot.stages.results import Result
from bot.trace import Trace
from clients.fakes.discourse import AgreeableForum
from clients.fakes.scripted_llm import ScriptedLLM
from forum.errors import PromptCut, RemoteRefused, RemoteUnavailable
from forum.ports import ChatModel, ForumClient, Message

ASKED = [Message(role="user", content="my secret tulip")]


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (RemoteUnavailable("tulip", status=503), "unavailable 503"),
        (RemoteRefused("tulip", status=404), "refused 404"),
        (PromptCut("tulip"), "cut"),
        (ZeroDivisionError("tulip"), "failed"),
    ],
)
def test_a_failed_call_goes_through_and_is_kept_by_its_kind(error: Exception, outcome: str) -> None:
    log = CallLog()
    chat: ChatModel = timed(ScriptedLLM("Fine.", error), "llm", lambda: log)
    assert chat.chat(ASKED, timeout_s=1).text == "Fine."
    with pytest.raises(type(error)):
        chat.chat(ASKED, timeout_s=1)
    assert [(one.service, one.call, one.outcome) for one in log.calls()] == [
        ("llm", "chat", "ok"),
        ("llm", "chat", outcome),
    ]
    assert "tulip" not in str([asdict(one) for one in log.calls()])


def test_a_property_is_no_call() -> None:
    log = CallLog()
    assert timed(ScriptedLLM(), "llm", lambda: log).model_id == "fake/scripted"
    assert log.calls() == ()


def test_one_that_nobody_waited_for_is_unfinished() -> None:
    log, go = CallLog(), Event()

    class Slow:
        def search(self) -> None:
            go.wait(10)

    thread = Thread(target=timed(Slow(), "arxiv", lambda: log).search)
    thread.start()
    while not log.calls():
        pass
    [call] = log.calls()
    go.set()
    thread.join()
    assert (call.outcome, log.calls()[0].outcome) == ("unfinished", "ok")


def test_each_stage_has_its_own_calls() -> None:
    trace = Trace()
    chat: ChatModel = timed(ScriptedLLM(), "llm", lambda: trace.calls)

    def asks(times: int) -> Result:
        for _ in range(times):
            chat.chat(ASKED, timeout_s=1)
        return Result(decision="done")

    trace.step(asks, 2)
    trace.step(asks, 0)
    trace.step(asks, 1)
    assert [len(record.calls) for record in trace.records] == [2, 0, 1]


def test_the_forum_is_timed_only_where_somebody_collects_and_under_every_account() -> None:
    forum: ForumClient = timed(AgreeableForum(), "discourse", collected)
    forum.topic(1)
    with collecting() as log:
        forum.acting_as("helper").create_post(topic_id=1, raw="A reply.")
        forum.topic(1)
    assert [one.call for one in log.calls()] == ["create_post", "topic"]
