"""In a real browser a visitor asks, sees the reply arrive, and follows its citation to the post."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]


@pytest.fixture
def page() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="needs the `test` extra: pytest-playwright")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        page = browser.new_page(viewport={"width": 400, "height": 800})
        page.set_default_timeout(15_000)
        yield page
        browser.close()


def test_a_visitor_asks_and_follows_the_citation(forum: Any, client: Any, page: Any) -> None:
    page.goto(f"{forum.url}/t/10")
    page.select_option("#member", "mara")
    page.fill("#raw", "@threadcite how long is the bridle of a delta?")
    page.click("#send")
    page.wait_for_selector("#post_7[data-username=mara]")
    assert page.is_visible("#waiting")
    reply = "A third of the spine [[1]](/t/x/10/2). " + "It is long enough to scroll. " * 60
    client("threadcite").post("/posts.json", json={"raw": reply, "topic_id": 10, "reply_to_post_number": 7})
    page.wait_for_selector("#post_8.bot")
    assert not page.is_visible("#waiting")
    page.click("#post_8 .cooked a")
    page.wait_for_selector("#post_2[data-target]")
    box = page.locator("#post_2").bounding_box()
    assert 0 <= box["y"] < 800


def test_an_edited_reply_changes_under_the_readers_eyes(forum: Any, client: Any, page: Any) -> None:
    bot = client("threadcite")
    made = bot.post("/posts.json", json={"raw": "Looking through the forum ...", "topic_id": 10}).json()
    page.goto(f"{forum.url}/t/10")
    bot.put(f"/posts/{made['id']}.json", json={"post": {"raw": "A third of the spine, says post 2."}})
    page.wait_for_selector("#post_7 >> text=A third of the spine, says post 2.")
    bot.delete(f"/posts/{made['id']}.json")
    page.wait_for_selector("#post_7 >> text=deleted by author")
