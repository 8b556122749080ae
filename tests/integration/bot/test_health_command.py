"""`bot health` tells a container that works from one that does not, whichever of the two processes it runs."""

from __future__ import annotations

import socket

import pytest
from typer.testing import CliRunner

from bot.__main__ import app
from bot.commands.health import first_process
from clients.postgres.ledger import Ledger
from clients.postgres.pool import Database
from forum.errors import UsageError
from tests.integration.bot.conftest import Room


@pytest.mark.parametrize(
    ("command", "part", "port"),
    [
        ("python -m bot serve --host 0.0.0.0 --port 4201", "web", 4201),
        ("python -m bot serve --port=8080", "web", 8080),
        ("python -m bot serve", "web", 4201),
        ("/sbin/tini -- python -m bot work", "worker", 4201),
        ("python -m indexer reconcile", None, 4201),
        ("", None, 4201),
    ],
)
def test_the_first_process_says_what_the_container_is(command: str, part: str | None, port: int) -> None:
    assert first_process(command.split()) == (part, port)


def test_the_web_process_is_asked(room: Room) -> None:
    port = room.hook.split(":")[2].split("/")[0]
    assert CliRunner().invoke(app, ["health", "web", "--port", port]).exit_code == 0
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = str(free.getsockname()[1])
    assert CliRunner().invoke(app, ["health", "web", "--port", closed]).exit_code == 1


def test_a_worker_is_well_while_it_reports(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREADCITE_DATABASE_URL", database.url)
    assert CliRunner().invoke(app, ["health", "worker"]).exit_code == 1
    Ledger(database).set_health("worker", "ok")
    assert CliRunner().invoke(app, ["health", "worker"]).exit_code == 0
    with database.connection() as connection:
        connection.execute("UPDATE health SET at = now() - interval '2 minutes'")
    assert CliRunner().invoke(app, ["health", "worker"]).exit_code == 1


def test_a_database_that_is_down_makes_no_worker_ill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREADCITE_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    done = CliRunner().invoke(app, ["health", "worker"])
    assert (done.exit_code, "not known" in done.output) == (0, True)


def test_without_a_database_s_address_the_call_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THREADCITE_DATABASE_URL", raising=False)
    assert isinstance(CliRunner().invoke(app, ["health", "worker"]).exception, UsageError)
