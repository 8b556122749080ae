"""A database that cannot be used is told by host and port in one line, never by its password."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from bot.__main__ import app as bot
from clients.postgres.migrate import migrate
from clients.postgres.pool import Database
from forum.errors import DatabaseUnavailable

PASSWORD = "hush-hush-4711"


def line_of(error: pytest.ExceptionInfo[DatabaseUnavailable]) -> str:
    assert "\n" not in str(error.value)
    assert PASSWORD not in str(error.value)
    return str(error.value)


def test_at_the_start_of_a_command() -> None:
    with pytest.raises(DatabaseUnavailable) as error:
        migrate(f"postgresql://ann:{PASSWORD}@127.0.0.1:1/forum")
    assert "127.0.0.1:1/forum: Connection refused." in line_of(error)


def test_while_a_process_runs() -> None:
    with (
        pytest.raises(DatabaseUnavailable) as error,
        Database(f"postgresql://ann:{PASSWORD}@127.0.0.1:1/forum", timeout_s=0.5) as database,
        database.connection(),
    ):
        pass
    assert "127.0.0.1:1/forum does not answer" in line_of(error)


@pytest.mark.parametrize("address", [PASSWORD, f"postgres//ann:{PASSWORD}@host/forum"])
def test_an_address_that_is_none_is_not_repeated(address: str) -> None:
    with pytest.raises(DatabaseUnavailable) as error:
        migrate(address)
    assert "postgresql://USER:PASSWORD@HOST:PORT/NAME" in line_of(error)


def test_asking_an_empty_index_says_so_and_names_the_command(database_url: str) -> None:
    pytest.importorskip("wordllama", reason="needs the `embedded` extra")
    told = CliRunner().invoke(
        bot, ["ask", "How does a rain gauge tip?", "--json"], env={"THREADCITE_DATABASE_URL": database_url}
    )
    assert told.exit_code == 0
    assert "python -m indexer backfill discourse" in told.stderr
    assert told.stdout.startswith("{")
