"""What a reconcile run found is what /metrics and the index page show."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from clients.postgres.figures import figures
from clients.postgres.pool import Database
from demo.runner import PracticeForum
from demo.settings import Settings
from indexer.__main__ import app


def test_the_drift_of_the_last_run_is_kept(
    database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pytest.importorskip("wordllama", reason="needs the `embedded` extra")
    with PracticeForum(settings=Settings()) as forum:
        config = tmp_path_factory.mktemp("config") / "config.yml"
        config.write_text(f"forum: {{base_url: '{forum.url}', requests_per_minute: 99999}}\n")
        monkeypatch.setenv("THREADCITE_CONFIG", str(config))
        monkeypatch.setenv("THREADCITE_DATABASE_URL", database_url)
        done = CliRunner().invoke(app, ["reconcile"])
    assert done.exit_code == 0, done.output
    drift = {name: number for name, _, number in figures(database)}["threadcite_index_drift"]
    # The index was empty, so every public post was missing.
    assert drift > 100
