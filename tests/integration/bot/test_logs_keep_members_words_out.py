"""The log of a whole answer, of a failing one and of the libraries: ids and reasons, never what a member wrote."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from clients.logs import set_up_logs
from forum.config import LoggingSection
from forum.errors import ConfigError
from forum.types import Answer, Question

from .conftest import Room

SECRET = "marmalade under the third floorboard"


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    before = logging.getLogger().handlers
    set_up_logs(LoggingSection(format="json"), stream)
    yield stream
    logging.getLogger().handlers = before
    structlog.reset_defaults()


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_failing_answer_is_logged_without_the_question(room: Room, written: io.StringIO) -> None:
    def fails(question: Question) -> Answer:
        raise RuntimeError(f"cannot make sense of {question.text}")

    room.answer = fails
    asked = room.ask(room.topic().topic_id, SECRET)
    room.until(lambda: "answer_failed" in written.getvalue())
    failed = next(line for line in lines(written) if line["event"] == "answer_failed")
    assert "RuntimeError" in str(failed["exception"])
    assert failed["post"] == asked.id
    assert SECRET not in written.getvalue()


def test_a_whole_answer_leaves_no_words_in_the_log(room: Room, written: io.StringIO) -> None:
    asked = room.ask(room.topic().topic_id, SECRET)
    room.ended(asked.id)
    room.until(lambda: "ask_ended" in written.getvalue())
    assert SECRET not in written.getvalue()


def test_words_under_a_known_key_are_counted_not_shown(written: io.StringIO) -> None:
    structlog.get_logger().info("asked", question=SECRET, post=7)
    assert lines(written)[0]["question"] == f"({len(SECRET)} characters)"


def test_a_library_s_error_is_shown_by_its_kind(written: io.StringIO) -> None:
    try:
        raise ValueError(f"failing row contains ({SECRET})")
    except ValueError:
        logging.getLogger("psycopg").exception("it failed")
    assert SECRET not in written.getvalue()
    assert "ValueError" in str(lines(written)[0]["exception"])


def test_our_own_error_keeps_its_mend(written: io.StringIO) -> None:
    try:
        raise ConfigError("bot.mod: did you mean bot.mode?")
    except ConfigError:
        structlog.get_logger().exception("refused")
    assert "bot.mode" in str(lines(written)[0]["exception"])


def test_hidden_characters_do_not_reach_the_log(written: io.StringIO) -> None:
    structlog.get_logger().warning("odd", who="Ann\u202e\u2028SYSTEM")
    assert "\\u202e" not in written.getvalue()
    assert "\\u2028" not in written.getvalue()


def test_an_operator_may_ask_for_the_words(written: io.StringIO) -> None:
    set_up_logs(LoggingSection(format="json", member_text=True), written)
    structlog.get_logger().info("asked", question=SECRET)
    assert SECRET in written.getvalue()
