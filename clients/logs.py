"""Sets up the log of a process: JSON lines (text on a terminal), and no word of a member unless the config says so."""

from __future__ import annotations

import logging
import sys
import traceback
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, WrappedLogger

from forum.config import LoggingSection
from forum.errors import ThreadciteError
from forum.unicode_safety import safe

#: Keys under which somebody might log what a member wrote.
_MEMBERS = frozenset("question text raw cooked title answer reply_raw quote excerpt body record prompt".split())


def set_up_logs(section: LoggingSection, stream: TextIO | None = None) -> None:
    """From now on structlog and the libraries' own logging write the same lines to `stream`, by default stderr."""
    stream = stream or sys.stderr
    as_text = section.format == "text" or (section.format == "auto" and stream.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _Members(allowed=section.member_text),
        _visible,
    ]
    last: Any = structlog.dev.ConsoleRenderer(colors=False) if as_text else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        # Said even if it is the default: clients/console.py has let through errors only until now.
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.stdlib.ExtraAdder(allow=()), *shared],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last],
        # Both ways the traceback was made by _Members, which knows what may stand in it.
        pass_foreign_args=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.INFO)


class _Members:
    """Takes out what a member may have written: known keys, and the messages of errors that are not our own."""

    def __init__(self, *, allowed: bool) -> None:
        self._allowed = allowed

    def __call__(self, _: WrappedLogger, __: str, event: EventDict) -> EventDict:
        error = event.pop("exc_info", None)
        record = event.get("_record")
        if record is not None and record.exc_info:
            error = record.exc_info
            record.exc_info, record.exc_text = None, None
        if error:
            event["exception"] = self._shown(error)
        if not self._allowed:
            for key in _MEMBERS & event.keys():
                event[key] = f"({len(str(event[key]))} characters)"
        return event

    def _shown(self, error: object) -> str:
        if error is True:
            error = sys.exc_info()
        value = error[1] if isinstance(error, tuple) else error
        if not isinstance(value, BaseException):
            return ""
        frames = [line for frame in traceback.format_tb(value.__traceback__) for line in frame.splitlines()]
        chain: list[str] = []
        seen: BaseException | None = value
        while seen is not None and len(chain) < 5:
            # A database or a library quotes the row or text that it stumbled over.
            told = self._allowed or isinstance(seen, ThreadciteError | OSError)
            chain.append(f"{type(seen).__name__}: {seen}" if told else type(seen).__name__)
            seen = seen.__cause__ or seen.__context__
        return "\n".join([*frames, " <- ".join(chain)])


def _visible(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Neither bidi controls nor odd line ends of untrusted text reach the log as they are."""
    return {key: safe(value) if isinstance(value, str) else value for key, value in event.items()}
