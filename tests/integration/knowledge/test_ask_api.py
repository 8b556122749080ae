"""POST /ask: the contract's JSON for who has a token, one clear line for everything else."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.serving import make_server
from werkzeug.test import TestResponse

from bot.api_tokens import Pace, Tokens
from clients.postgres.pool import Database
from clients.postgres.traces import load_trace
from clients.secrets import Secret
from forum.config import Config
from forum.errors import ConfigError

from .conftest import TOKEN

SIGNED = {"Authorization": f"Bearer {TOKEN}"}


def ask(client: FlaskClient, question: str = "Which knot for the bridle of a kite?", **more: Any) -> TestResponse:
    return client.post("/ask", json={"question": question, **more}, headers=SIGNED)


def events(response: TestResponse) -> list[tuple[str, dict[str, Any]]]:
    parts = [part.split("\n", 1) for part in response.text.strip().split("\n\n") if part.startswith("event: ")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in parts]


def test_an_answer_cites_the_post_that_says_it(client: FlaskClient) -> None:
    given = ask(client).get_json()
    assert given["route"] == "answered"
    assert given["citations"][0]["url"].endswith("/t/topic-1/1/1")


def test_the_trace_is_stored(client: FlaskClient, database: Database) -> None:
    trace = load_trace(database, ask(client).get_json()["trace_id"])
    assert trace is not None
    assert [stage["stage"] for stage in trace["stages"]][:2] == ["read", "gate"]


def test_top_k_is_the_number_of_sources(client: FlaskClient) -> None:
    assert len(ask(client, top_k=1).get_json()["sources"]) == 1


def test_the_answer_is_in_the_language_that_was_asked_for(client: FlaskClient) -> None:
    assert "Sources" in ask(client, language="fr").get_json()["answer"]
    assert ask(client, language="fr").get_json()["language"] == "fr"


def test_a_follow_up_takes_the_earlier_question_along(client: FlaskClient) -> None:
    earlier = [{"role": "user", "text": "Which varnish for a cello?"}, {"role": "assistant", "text": "Shellac."}]
    given = ask(client, "And how long does it dry?", conversation=earlier).get_json()
    assert given["sources"][0]["topic_id"] == 4


@pytest.mark.parametrize("header", [None, "Bearer wrong", f"Basic {TOKEN}", "Bearer", f"Bearer {TOKEN}x"])
def test_without_a_token_nothing_is_answered(client: FlaskClient, header: str | None) -> None:
    response = client.post("/ask", json={"question": "?"}, headers={"Authorization": header} if header else {})
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "question: Field required"),
        ({"question": 5}, "question:"),
        ({"question": ""}, "question:"),
        ({"question": "x" * 8001}, "question: 8001 characters, the limit is 8000"),
        ({"question": "a", "qestion": "b"}, "unknown key qestion. Did you mean question?"),
        ({"question": "a", "top_k": 0}, "top_k:"),
        ({"question": "a", "top_k": "5"}, "top_k:"),
        ({"question": "a", "language": "de"}, "language: must be one of en, fr"),
        ({"question": "a", "persona": "nobody"}, "persona: must be one of threadcite"),
        ({"question": "a", "conversation": [{"role": "system", "text": "b"}]}, "conversation.0.role:"),
        ([], "the body must be a JSON object"),
    ],
)
def test_a_wrong_body_is_refused_by_the_name_of_its_key(client: FlaskClient, body: Any, said: str) -> None:
    response = client.post("/ask", json=body, headers=SIGNED)
    assert response.status_code == 400
    assert response.get_json()["error"].startswith(said)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 100_000])
def test_what_is_not_json_is_refused(client: FlaskClient, config: Config, body: bytes) -> None:
    response = client.post("/ask", data=body[:60_000], headers=SIGNED, content_type="application/json")
    assert response.status_code == 400


def test_a_large_body_is_refused_before_it_is_read(client: FlaskClient) -> None:
    assert ask(client, "x" * 1_000_001).status_code == 413


def test_another_content_type_is_refused(client: FlaskClient) -> None:
    assert client.post("/ask", data="question=a", headers=SIGNED).status_code == 415


def test_events_tell_the_stages_then_the_verified_text_then_the_whole(client: FlaskClient) -> None:
    response = client.post("/ask", json={"question": "Which knot?"}, headers={**SIGNED, "Accept": "text/event-stream"})
    told = events(response)
    names = [name for name, _ in told]
    assert names.index("text") > [at for at, one in enumerate(told) if one == ("stage", one[1])][-1]
    assert "\n\n".join(data["text"] for name, data in told if name == "text") == told[-1][1]["answer"]
    assert names[-1] == "answer"


def test_a_stage_event_holds_no_words_of_anybody(client: FlaskClient) -> None:
    response = client.post("/ask", json={"question": "Which knot?"}, headers={**SIGNED, "Accept": "text/event-stream"})
    assert {key for name, data in events(response) if name == "stage" for key in data} == {"stage", "ms"}


def test_the_limit_of_a_token_says_when_to_come_back() -> None:
    clock = [0.0]
    pace = Pace(lambda: clock[0])
    assert [pace.wait_s("a", 2), pace.wait_s("a", 2), pace.wait_s("b", 2)] == [0, 0, 0]
    clock[0] = 20.0
    assert pace.wait_s("a", 2) == 40
    clock[0] = 61.0
    assert pace.wait_s("a", 2) == 0


def test_over_its_limit_a_token_gets_429(database: Database, kites: None) -> None:
    from bot.web import build_app

    config = Config.parse({"api": {"per_minute": 1}})
    app = build_app(database, lambda: config, [Secret("w")], Tokens([Secret(f"tests:{TOKEN}")]))
    client = app.test_client()
    assert ask(client).status_code == 200
    assert ask(client).status_code == 429
    assert 0 < int(ask(client).headers["Retry-After"]) <= 60


@pytest.mark.parametrize("value", ["justatokenwithoutaname", "short:abc", ":0123456789abcdef"])
def test_a_token_without_name_or_length_is_refused_at_start(value: str) -> None:
    with pytest.raises(ConfigError, match="THREADCITE_API_TOKENS"):
        Tokens([Secret(value)])


def test_nobody_may_ask_without_tokens() -> None:
    assert Tokens([]).name_of("Bearer ") is None


@pytest.fixture
def address(app: Flask) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.slow
def test_schemathesis_finds_nothing(address: str) -> None:
    """Every check that it has, on requests that fit the description, on the edges of it, and that do not."""
    command = [Path(sys.executable).with_name("st"), "run", f"{address}/openapi.json", "--max-examples", "40"]
    command += ["--header", f"Authorization: Bearer {TOKEN}", "--no-color", "--seed", "7", "--request-timeout", "60"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout
