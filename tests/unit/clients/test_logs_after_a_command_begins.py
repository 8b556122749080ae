"""A command that sets up its logs is heard, whatever the shell around it held back before."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

import pytest
import structlog

from clients.console import run
from clients.logs import set_up_logs
from forum.config import LoggingSection


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before, level = root.handlers, root.level
    yield io.StringIO()
    root.handlers = before
    root.setLevel(level)
    structlog.reset_defaults()


def test_information_is_logged_by_a_command_of_the_shell(stream: io.StringIO) -> None:
    def command() -> None:
        set_up_logs(LoggingSection(format="json"), stream)
        structlog.get_logger("threadcite.worker").info("working")

    with pytest.raises(SystemExit):
        run(command)
    assert '"event": "working"' in stream.getvalue()
