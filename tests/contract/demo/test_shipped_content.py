"""The shipped forum, as anybody sees it: nothing of what is secret in it comes out."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
import yaml

from demo.content import CONTENT
from demo.runner import BOT_KEY, PracticeForum


@pytest.fixture(scope="module")
def shipped() -> Iterator[PracticeForum]:
    with PracticeForum() as running:
        yield running


@pytest.mark.parametrize("headers", [{}, {"Api-Key": BOT_KEY}], ids=["anybody", "the bot"])
def test_no_address_of_the_shipped_forum_tells_a_secret(shipped: PracticeForum, headers: dict[str, str]) -> None:
    secrets = [s["token"] for s in yaml.safe_load((CONTENT / "secrets.yml").read_text("utf-8"))["secrets"]]
    store = shipped.forum.store
    paths = ["/", "/latest.json?per_page=100", "/site.json", "/categories.json", "/tags.json", "/search?q=SECRET"]
    for topic in (t for t in store.topics.values() if t.visible):  # an unlisted one is open to who has its link
        paths += [f"/t/{topic.slug}/{topic.id}", f"/t/{topic.id}.json?print=true&include_raw=true", f"/raw/{topic.id}"]
    paths += [f"/posts.json?before={number}" for number in range(max(store.posts) + 1, 0, -40)]
    paths += [f"/u/{user.username}" for user in store.users.values()]
    with httpx.Client(base_url=shipped.url, headers=headers, trust_env=False) as client:
        told = {path: client.get(path).text for path in paths}
    assert len(secrets) > 3
    assert [(path, token) for path, text in told.items() for token in secrets if token in text] == []


def test_every_shipped_post_is_cooked_and_its_quotes_and_links_lead_to_posts(shipped: PracticeForum) -> None:
    store = shipped.forum.store
    assert [p.id for p in store.posts.values() if not p.cooked] == []
    assert [p.id for p in store.posts.values() if "[quote=" in p.cooked or "[/quote]" in p.cooked] == []
