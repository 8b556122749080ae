"""A person mentions the bot on the page, sees the cited reply arrive, and follows a citation to the post."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from demo.up import Parts, running

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="no Chromium: `make browser` installs Debian's"),
]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parts]:
    with running(tmp_path_factory.mktemp("demo")) as parts:
        yield parts


@pytest.fixture
def page(demo: Parts) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        page = browser.new_page()
        page.set_default_timeout(60_000)
        yield page
        browser.close()


def test_a_mention_on_the_page_gets_a_reply_whose_citation_leads_to_the_post(demo: Parts, page: Page) -> None:
    page.goto(demo.forum_url)
    page.get_by_role("link", name="Write this in a new topic").click()
    page.fill("#title", "Humidity sensor after the fog")
    page.click("#send")
    reply = page.locator('article[data-username="threadcite"]')
    expect(reply).to_contain_text("Sources", timeout=60_000)
    citation = reply.get_by_role("link", name=re.compile(r"^\[\d\]$")).first
    address = str(citation.get_attribute("href"))
    assert address.startswith(f"{demo.forum_url}/t/")
    citation.click()
    page.wait_for_url(address)
    cited = page.locator(f"#post_{address.rsplit('/', 1)[1]}")
    expect(cited).to_be_in_viewport()
