"""`bot health`: whether what this container runs works; for an image's HEALTHCHECK, which knows only the image."""

from __future__ import annotations

import http.client
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from bot.health import readiness
from clients.console import FAILED, fail
from clients.postgres.ledger import Ledger
from clients.postgres.pool import Database
from clients.secrets import read_secret
from forum.errors import DatabaseUnavailable, UsageError

Part = Literal["web", "worker"]

_PORT = 4201
_TIMEOUT_S = 4.0
_FIRST_PROCESS = Path("/proc/1/cmdline")


def health(
    part: Annotated[str, typer.Argument(help="web or worker; default: what the container's first process is.")] = "",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The web's; 0: as its process says, else 4201.")] = 0,
) -> None:
    """Exit code 0 when it works or is neither of the two, 1 when it does not.

    The web process is asked for /healthz. A worker has reported within the last minute; of several on one database
    each counts for all. A database that is down makes no worker ill: it waits for it.

    Example: python -m bot health worker
    """
    if part not in ("", "web", "worker"):
        raise UsageError(f"health {part}: say web, worker or nothing.")
    running, told = first_process(_command())
    match part or running:
        case "web":
            _web(port or told)
        case "worker":
            _worker()
        case _:
            print("neither the web process nor a worker runs here")


def first_process(command: Sequence[str]) -> tuple[Part | None, int]:
    """What a command line starts, and the web's port."""
    words = list(command)
    while words and words[:3] != ["-m", "bot", "serve"]:
        if words[:3] == ["-m", "bot", "work"]:
            return "worker", _PORT
        words.pop(0)
    for at, word in enumerate(words):
        name, _, value = word.partition("=")
        if name == "--port" and (value := value or "".join(words[at + 1 : at + 2])).isdecimal():
            return "web", int(value)
    return ("web" if words else None), _PORT


def _command() -> list[str]:
    try:
        return _FIRST_PROCESS.read_text(errors="replace").split("\0")
    except OSError:
        return []


def _web(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", "/healthz")
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        fail(f"the web process does not answer on port {port}: {error}", FAILED)
    finally:
        connection.close()
    if status != 200:
        fail(f"/healthz on port {port} answers {status}", FAILED)
    print("the web process answers")


def _worker() -> None:
    url = read_secret("DATABASE_URL")
    if url is None:
        raise UsageError("THREADCITE_DATABASE_URL is not set: without it nobody knows when the worker last reported.")
    try:
        with Database(url.reveal(), max_size=1, timeout_s=_TIMEOUT_S) as database:
            silent = "worker" in readiness(Ledger(database))["degraded"]
    except DatabaseUnavailable as error:
        print(f"not known: {error}")
        return
    if silent:
        fail("no worker has reported for a minute", FAILED)
    print("a worker has reported within the last minute")
