"""Every admin page in Chromium: no accessibility finding, nothing wider than a phone, nothing blocked or fetched."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright
from psycopg.types.json import Jsonb
from werkzeug.serving import make_server

from bot.web import build_app
from clients.composition import build_embedder
from clients.postgres.ledger import Ledger
from clients.postgres.pool import Database
from clients.secrets import Secret
from forum.config import Config, EmbedderSection

CHROMIUM = Path("/usr/bin/chromium")
TOKEN = "an admin token of the tests"
PATHS = ("/", "/answers", "/answers/t000", "/playground", "/drafts", "/gaps", "/index", "/flags", "/answers/none")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="no Chromium: `make browser` installs Debian's"),
]


@pytest.fixture
def address(database: Database) -> Iterator[str]:
    """The pages of a full installation."""
    _fill(database)
    app = build_app(database, Config, [Secret("of the webhook")], admin_token=Secret(TOKEN))
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/admin"
    server.shutdown()
    thread.join(10)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


def _signed_in(browser: Browser, address: str, *, problems: list[str], **context: Any) -> Page:
    page = browser.new_context(**context).new_page()
    page.on(
        "console", lambda message: problems.append(f"{page.url}: {message.text}") if message.type == "error" else None
    )
    page.on("request", lambda sent: problems.append(sent.url) if not sent.url.startswith(address) else None)
    page.goto(f"{address}/login")
    page.fill("#token", TOKEN)
    page.click("main button")
    return page


@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_are_accessible_fit_the_screen_and_need_nobody_else(
    browser: Browser, address: str, width: int, language: str, look: str
) -> None:
    problems: list[str] = []
    size: Any = {"width": width, "height": 844}
    page = _signed_in(browser, address, problems=problems, viewport=size, locale=language, color_scheme=look)
    found: list[str] = []
    for path in PATHS:
        page.goto(address + path)
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        report = Axe().run(page).response
        assert len(report["passes"]) > 5
        found += [
            f"{path}: {one['id']} ({one['impact']}): {one['nodes'][0]['html'][:200]}" for one in report["violations"]
        ]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"{path}: wider than {width} pixels")
    assert found == []
    # The browser reports the page that is not there.
    assert [one for one in problems if "404" not in one] == []


def test_a_draft_is_edited_and_approved_by_keyboard_alone(browser: Browser, address: str, database: Database) -> None:
    page = _signed_in(browser, address, problems=[])
    page.goto(f"{address}/drafts")
    page.locator("article summary").first.focus()
    page.keyboard.press("Enter")
    page.locator("article textarea").first.focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("Twice a minute.")
    page.locator("article button[value=approve]").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("article")).to_have_count(1)
    states = [(one.state.value, one.reply_raw) for one in map(Ledger(database).load, (201, 202)) if one]
    assert ("ready", "Twice a minute.") in states


def test_the_playground_answers_twice_and_shows_both_sides(browser: Browser, address: str) -> None:
    pytest.importorskip("wordllama", reason="needs the `embedded` extra")
    build_embedder(EmbedderSection())
    page = _signed_in(browser, address, problems=[])
    page.goto(f"{address}/playground")
    page.fill("#question", "how does the rain gauge tip?")
    page.uncheck("[name='b.rerank']")
    page.check("[name=compare]")
    page.click("main form .button")
    page.wait_for_selector(".two", timeout=60_000)
    assert page.locator(".two > section").count() == 2


def _fill(database: Database) -> None:
    """Rows for every table and chart of the pages."""
    now = datetime.now(UTC)
    source = {"n": 1, "post_id": 5, "topic_id": 3, "post_number": 2, "title": "Tipping buckets", "accepted": True}
    source |= {"ranks": {"posts": 4, "keyword": 1}, "rrf": 0.031, "ce": 1.25}
    stages = [
        {"stage": "recall", "decision": "1 candidate", "reason": "why", "ms": 3.0, "data": {"fused": [[5, 0.03, {}]]}},
        {
            "stage": "generate",
            "decision": "written",
            "reason": "",
            "ms": 9.0,
            "data": {"prompt": [{"role": "system", "content": "Answer."}], "reply": "Twice."},
        },
        {"stage": "verify", "decision": "kept", "reason": "", "ms": 1.0, "data": {"dropped": ["The moon is near."]}},
    ]
    citation = {
        "n": 1,
        "url": "http://127.0.0.1:4200/t/x/3/2",
        "post_id": 5,
        "topic_id": 3,
        "post_number": 2,
        "quote": "twice",
    }
    with database.connection() as connection:
        for n in range(60):
            zone = ("ok", "ok", "weak", "abstain")[n % 4]
            body = {
                "answer": "It tips `twice` [[1]](http://127.0.0.1:4200/t/x/3/2).",
                "zone": zone,
                "route": "answered",
            }
            body |= {"language": "en", "timings_ms": {"recall": 9, "generate": 900 + n, "total": 909 + n}}
            body |= {
                "degraded": ["llm"] if n % 7 == 0 else [],
                "sources": [source],
                "citations": [citation],
                "stages": stages,
                "low_confidence": True,
            }
            connection.execute(
                "INSERT INTO ask (post_id, topic_id, post_number, user_id, username, title, question, state, outcome,"
                " reply_raw, form, asked_at) VALUES (%s, 3, %s, 5, 'windy_jane', 'Rain', 'how does it tip?', %s, %s,"
                " 'It tips.', now(), now())",
                (n + 1, n + 1, "posted" if zone != "abstain" else "abstained", "posted"),
            )
            connection.execute(
                "INSERT INTO trace (id, ask_post_id, question, zone, route, answer, body, ms, created_at)"
                " VALUES (%s, %s, 'how does it tip?', %s, 'answered', 'It tips.', %s, 900, %s)",
                (f"t{n:03}", n + 1, zone, Jsonb(body), now - timedelta(hours=9 * n)),
            )
        connection.execute(
            "INSERT INTO ask (post_id, topic_id, post_number, username, title, question, state, reply_raw, form,"
            " asked_at) SELECT n, 3, n, 'jane', 'Rain', 'how?', 'draft',"
            " 'It [tips](http://127.0.0.1:4200/t/x/3/2).', now(), now() FROM generate_series(201, 202) n"
        )
        connection.execute("UPDATE ask SET state = 'failed', reason = 'the topic is closed' WHERE post_id = 60")
        connection.execute("INSERT INTO gap DEFAULT VALUES")
        connection.execute("INSERT INTO gap_ask SELECT n, g.id FROM gap g, generate_series(4, 8, 4) n")
        connection.execute("INSERT INTO topic (id, title) VALUES (3, 'Rain')")
        connection.execute(
            "INSERT INTO post (id, topic_id, post_number, username, text, created_at, updated_at)"
            " VALUES (900, 3, 900, 'old_hand', 'Because.', now(), now())"
        )
        connection.execute("INSERT INTO embedding_model (name, dimensions, active) VALUES ('made up', 8, true)")
        connection.execute("INSERT INTO set_aside SELECT 900, id, '', 'the embedder refuses it' FROM embedding_model")
        connection.execute(
            "INSERT INTO backfill (source, total, seen, indexed) VALUES ('archive:made-up', 900, 300, 290)"
        )
        connection.execute(
            "INSERT INTO config_history (digest, owner, settings, changed, refusal) VALUES"
            " ('a', 'root', '{}', '{\"flags.corrective\": [false, true]}', ''), ('b', 'root', '{}', '{}', 'no good')"
        )
    for part, state, detail in (
        ("config", "refused", "bot.mod: unknown key"),
        ("reconcile", "ok", '{"checked": 9, "drift": 2, "missing": 2}'),
    ):
        Ledger(database).set_health(part, state, detail)
