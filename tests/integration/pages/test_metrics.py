"""What a scrape of /metrics sees, with the database there and away."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from bot import metrics
from bot.observe import observe
from bot.web import build_app
from clients.breaker import Breaker
from clients.postgres.ledger import Ledger
from clients.postgres.pool import Database
from clients.secrets import Secret
from forum.config import Config
from forum.errors import RemoteRefused, RemoteUnavailable
from forum.types import Answer, Route, StageRecord, Zone


def client_on(database: Database) -> FlaskClient:
    return build_app(database, Config, [Secret("of the tests")]).test_client()


def scraped(client: FlaskClient) -> str:
    return client.get("/metrics").get_data(as_text=True)


def test_a_scrape_reads_everything_that_is_declared(database: Database) -> None:
    ledger = Ledger(database)
    ledger.set_health("config", "refused", "bot.mod: unknown key")
    ledger.set_health("reconcile", "ok", '{"drift": 3}')
    with database.connection() as connection:
        connection.execute(
            "INSERT INTO ask (post_id, topic_id, post_number, form, asked_at) VALUES (1, 1, 1, now(), now())"
        )
        connection.execute(
            "SELECT procrastinate_defer_jobs_v1("
            "ARRAY[ROW('answers', 'answer', 0, NULL, NULL, '{}', NULL)]::procrastinate_job_to_defer_v1[])"
        )
    text = scraped(client_on(database))
    missing = [name for name in metrics.READ if not re.search(rf"^{name}(\{{| )", text, re.MULTILINE)]
    assert missing == []
    assert "threadcite_config_refused 1.0" in text
    assert "threadcite_index_drift 3.0" in text
    assert 'threadcite_queue_depth{lane="answers"} 1.0' in text


def test_without_a_database_it_says_so_and_still_counts() -> None:
    away = Database("postgresql://nobody@127.0.0.1:1/none", timeout_s=0.2)
    text = scraped(client_on(away))
    assert "threadcite_database_up 0.0" in text
    assert "threadcite_http_requests_total" in text
    assert "threadcite_open_asks" not in text


def test_a_path_never_becomes_a_label(database: Database) -> None:
    client = client_on(database)
    client.get("/somebody/scans/us")
    text = scraped(client)
    assert 'route="none",status="404"' in text
    assert "somebody" not in text


def test_an_answer_is_counted_by_zone_route_stage_and_tokens(database: Database) -> None:
    stage = StageRecord(stage="generate", decision="written", ms=20, data={"prompt_tokens": 7, "output_tokens": None})
    observe(Answer(text="", zone=Zone.WEAK, route=Route.ANSWERED, language="en", trace=(stage,)))
    text = scraped(client_on(database))
    assert 'threadcite_answers_total{route="answered",zone="weak"}' in text
    assert 'threadcite_stage_seconds_count{stage="generate"}' in text
    assert re.search(r'threadcite_llm_tokens_total\{kind="prompt"\} [7-9]', text)


def test_a_service_that_is_away_is_counted_by_its_breaker(database: Database) -> None:
    breaker = Breaker("made up", failures=1)
    with pytest.raises(RemoteUnavailable), breaker.guard():
        raise RemoteUnavailable("away")
    text = scraped(client_on(database))
    assert 'threadcite_breaker_open{service="made up"} 1.0' in text
    assert 'threadcite_remote_errors_total{service="made up"} 1.0' in text


def test_a_model_server_that_refuses_everything_is_counted(database: Database) -> None:
    breaker = Breaker("made up llm")
    with pytest.raises(RemoteRefused), breaker.guard():
        raise RemoteRefused("no key", mend="set the key")
    assert 'threadcite_remote_refusing{service="made up llm"} 1.0' in scraped(client_on(database))
