"""The admin pages on a database of their own, signed in, and rows for them to show."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from psycopg.types.json import Jsonb
from werkzeug.test import TestResponse

from bot.web import build_app
from clients.postgres.pool import Database
from clients.secrets import Secret
from forum.config import Config

TOKEN = "an admin token of the tests"


@dataclass
class Pages:
    """A browser without scripts; `settings` is the config file's content."""

    database: Database
    client: FlaskClient
    settings: dict[str, Any]

    def get(self, path: str, **more: Any) -> str:
        response = self.client.get(f"/admin{path}", **more)
        assert response.status_code == 200, (path, response.status_code)
        return response.get_data(as_text=True)

    def proof(self, path: str = "/flags") -> str:
        found = re.search(r'name="proof" value="(\w+)"', self.get(path))
        assert found
        return found[1]

    def post(self, path: str, **form: Any) -> TestResponse:
        return self.client.post(f"/admin{path}", data={"proof": self.proof(), **form})

    def ask(self, post_id: int, *, state: str = "posted", question: str = "how does it tip?", **more: Any) -> None:
        values = {
            "post_id": post_id,
            "topic_id": 7,
            "post_number": post_id,
            "user_id": 5,
            "username": "windy_jane",
            "state": state,
            "question": question,
            "reply_raw": "It tips twice a minute [[1]].",
            "form": datetime.now(UTC),
            "asked_at": datetime.now(UTC),
            **more,
        }
        self._insert("ask", values)

    def trace(self, trace_id: str, *, age: timedelta = timedelta(0), **more: Any) -> None:
        zone = more.get("zone", "ok")
        body = {
            "answer": "It tips.",
            "zone": zone,
            "route": more.get("route", "answered"),
            "language": "en",
            "timings_ms": {"recall": 12.5, "generate": 1500.0, "total": 1512.5},
            "degraded": more.pop("degraded", []),
            "sources": [],
            "citations": [],
            "stages": [],
            **more.pop("body", {}),
        }
        values = {
            "id": trace_id,
            "question": "how does it tip?",
            "zone": zone,
            "route": "answered",
            "answer": body["answer"],
            "body": Jsonb(body),
            "ms": 1512.5,
            "created_at": datetime.now(UTC) - age,
            **more,
        }
        self._insert("trace", values)

    def _insert(self, table: str, values: dict[str, Any]) -> None:
        names, marks = ", ".join(values), ", ".join(f"%({name})s" for name in values)
        with self.database.connection() as connection:
            connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)  # type: ignore[arg-type]


@pytest.fixture
def outside(database: Database) -> Pages:
    """Nobody is signed in."""
    settings: dict[str, Any] = {}
    parse: Callable[[], Config] = lambda: Config.parse(settings)  # noqa: E731
    app = build_app(database, parse, [Secret("of the webhook")], admin_token=Secret(TOKEN))
    return Pages(database, app.test_client(), settings)


@pytest.fixture
def pages(outside: Pages) -> Pages:
    """Signed in with the token."""
    assert outside.client.post("/admin/login", data={"token": TOKEN}).status_code == 303
    return outside
