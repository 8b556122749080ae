"""The shell side of every command: exit codes, one-line errors, JSON on stdout and nothing else there."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from datetime import datetime
from enum import Enum
from typing import Any, NoReturn

import structlog

from forum.errors import DatabaseUnavailable, ThreadciteError, UsageError
from forum.unicode_safety import json_safe

DONE, FAILED, WRONG_CALL = 0, 1, 2


def run(app: Callable[[], Any]) -> NoReturn:
    """Run a command-line app; an error that Threadcite foresaw is one line on stderr.

    Exit code 2 when the call, the config or the database address is wrong, 1 when the work failed.
    """
    # Until a command sets up its logs: libraries tell of each retry, on standard output at that.
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    try:
        app()
    except (UsageError, DatabaseUnavailable) as error:
        fail(str(error), WRONG_CALL)
    except ThreadciteError as error:
        fail(str(error), FAILED)
    except KeyboardInterrupt:
        fail("Stopped. What was finished is kept; the same command goes on from there.", 130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(DONE)
    sys.exit(DONE)


def tell(line: str) -> None:
    """Say one line on stderr."""
    text = " ".join(line.split()).encode("utf-8", "replace").decode("utf-8")
    print(f"threadcite: {text}", file=sys.stderr)


def fail(line: str, code: int) -> NoReturn:
    """Say one line on stderr and leave."""
    tell(line)
    sys.exit(code)


def print_json(value: Any) -> None:
    """One JSON object on stdout; dates in ISO 8601, enums by value, lone surrogates replaced."""
    sys.stdout.write(json.dumps(json_safe(plain(value)), ensure_ascii=False, indent=2) + "\n")


def plain(value: Any) -> Any:
    """What JSON can hold, from mappings, sequences, dates and enums."""
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    return value
