"""What the doctor finds in a well installation, and what it says of each thing that is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from clients.postgres.ledger import Ledger
from clients.postgres.pool import Database
from demo.runner import BOT_KEY, PracticeForum
from demo.settings import Settings
from forum.config import Config
from forum.ports import EmbeddingModel
from indexer import doctor
from indexer.doctor import WRONG, Finding, examine


@pytest.fixture(scope="module")
def practice() -> Iterator[PracticeForum]:
    with PracticeForum(settings=Settings()) as forum:
        yield forum


@pytest.fixture
def found(practice: PracticeForum, database: Database, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Finding]]:
    pytest.importorskip("wordllama", reason="needs the `embedded` extra")
    monkeypatch.setenv("THREADCITE_DISCOURSE_API_KEY", BOT_KEY)
    monkeypatch.setenv("THREADCITE_WEBHOOK_SECRET", "a secret of the tests")

    def look(**settings: Any) -> list[Finding]:
        config = Config.parse({"forum": {"base_url": practice.url, "requests_per_minute": 9999}, **settings})
        return list(examine(config, database, web="http://127.0.0.1:9"))

    return look


def wrong(findings: list[Finding], check: str) -> list[Finding]:
    return [finding for finding in findings if finding.check == check and finding.state == WRONG]


def test_a_well_installation_is_named_so(found: Callable[..., list[Finding]]) -> None:
    findings = found()
    for check in ("secrets", "database", "clock", "reranker", "language model", "forum", "key"):
        assert any(finding.check == check for finding in findings), check
        assert wrong(findings, check) == [], check


def test_every_fault_says_how_to_mend_it(found: Callable[..., list[Finding]]) -> None:
    assert all(finding.mend for finding in found() if finding.state != "ok")


def test_a_web_process_that_does_not_answer_is_wrong(found: Callable[..., list[Finding]]) -> None:
    assert "bot serve" in wrong(found(), "webhook")[0].mend


def test_a_new_account_may_not_cite(practice: PracticeForum, found: Callable[..., list[Finding]]) -> None:
    store = practice.forum.store
    bot = store.user_named("threadcite")
    store.commit([replace(bot, trust_level=0)], [])
    try:
        assert "only two links" in wrong(found(), "bot account")[0].mend
    finally:
        store.commit([bot], [])


def test_drafts_as_whispers_need_an_account_of_the_staff(
    practice: PracticeForum, found: Callable[..., list[Finding]]
) -> None:
    assert "moderator" in wrong(found(bot={"mode": "draft"}), "bot account")[0].mend
    assert wrong(found(bot={"mode": "draft", "draft_as": "page"}), "bot account") == []
    store = practice.forum.store
    bot = store.user_named("threadcite")
    store.commit([replace(bot, moderator=True)], [])
    try:
        assert wrong(found(bot={"mode": "draft"}), "bot account") == []
    finally:
        store.commit([bot], [])


def test_an_index_that_nothing_compares_with_the_forum_is_named(
    found: Callable[..., list[Finding]], database: Database
) -> None:
    def reconcile() -> Finding:
        return next(finding for finding in found() if finding.check == "reconcile")

    assert "never" in reconcile().what
    Ledger(database).set_health("reconcile", "ok", "{}")
    assert reconcile().state == "ok"
    with database.connection() as connection:
        connection.execute("UPDATE health SET at = now() - interval '49 hours' WHERE name = 'reconcile'")
    assert "each night" in reconcile().mend


def test_a_missing_key_is_wrong_where_the_bot_posts(
    found: Callable[..., list[Finding]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("THREADCITE_DISCOURSE_API_KEY")
    assert wrong(found(), "secrets")
    assert not wrong(found(bot={"mode": "shadow"}), "secrets")


def test_a_model_that_cannot_be_reached_is_named_and_the_rest_goes_on(found: Callable[..., list[Finding]]) -> None:
    findings = found(llm={"backend": "ollama", "model": "m", "url": "http://127.0.0.1:9", "timeout_s": 2})
    assert wrong(findings, "language model")
    assert any(finding.check == "forum" for finding in findings)


def test_too_many_dimensions_are_refused_with_the_ways_out(
    found: Callable[..., list[Finding]], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Large:
        model = EmbeddingModel(name="ollama/qwen3-embedding:8b", dimensions=4096, max_tokens=8192)

        def embed_query(self, text: str) -> Any:
            return np.zeros(4096, dtype=np.float32)

    monkeypatch.setattr(doctor, "build_embedder", lambda section: Large())
    assert "4000" in wrong(found(), "embedder")[0].mend


def test_probabilities_instead_of_logits_are_wrong(
    found: Callable[..., list[Finding]], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Sigmoid:
        model_id = "made up"

        def score(self, question: str, candidates: Any) -> list[float]:
            return [0.99, 0.01]

    monkeypatch.setattr(doctor, "build_reranker", lambda section: Sigmoid())
    assert "logits" in wrong(found(reranker={"backend": "tei", "url": "http://127.0.0.1:9"}), "reranker")[0].what


def test_thresholds_of_another_reranker_are_wrong(
    found: Callable[..., list[Finding]], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Unknown:
        model_id = "nobody/measured-this"

        def score(self, question: str, candidates: Any) -> list[float]:
            return [4.0, -4.0]

    monkeypatch.setattr(doctor, "build_reranker", lambda section: Unknown())
    findings = found(reranker={"backend": "tei", "url": "http://127.0.0.1:9"})
    assert "calibrate" in wrong(findings, "reranker")[0].what


def test_clocks_that_are_far_apart_are_wrong() -> None:
    assert doctor._skew("the forum", datetime.now(UTC) - timedelta(minutes=5)).state == WRONG
    assert doctor._skew("the forum", datetime.now(UTC)).state == "ok"
