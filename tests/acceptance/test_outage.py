"""The database away for a while: deliveries are refused quickly, nothing needs a restart, nothing is lost or doubled.

THREADCITE_OUTAGE_S says for how long (default 8; six minutes is past every pool's own patience).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import time

import httpx
import pytest

from tests.acceptance.conftest import SECRET, Town, answers, until

OUTAGE_S = float(os.environ.get("THREADCITE_OUTAGE_S", "8"))


@pytest.mark.slow
@pytest.mark.timeout(300 + 2 * OUTAGE_S)
def test_the_database_goes_and_comes_back_and_nobody_restarts_anything(town: Town) -> None:
    forum = httpx.Client(base_url=town.forum_url, trust_env=False, timeout=5)
    web = httpx.Client(base_url=f"http://127.0.0.1:{town.web_port}", trust_env=False, timeout=20)
    with forum, web:
        town.start(forum)
        until(lambda: answers(web, "/readyz"), 30)
        until(lambda: web.get("/readyz").json()["degraded"] == [], 30)
        topic = town.write(forum, "gustav", title="How do these rain gauges ever tip?", category=1)["topic_id"]
        before = town.write(forum, "gustav", topic_id=topic, raw="@threadcite before the outage, what is it?")
        processes = {name: process.pid for name, process in town.running.items()}

        town.stop_postgres()
        asked = town.write(forum, "hexley", topic_id=topic, raw="@threadcite during the outage, what is it?")
        assert [_deliver(web, n) for n in (1, 2, 3)] == [503] * 3
        assert web.get("/healthz").status_code == 200
        assert (web.get("/readyz").status_code, web.get("/readyz").json()["ready"]) == (503, False)
        time.sleep(OUTAGE_S)

        town.start_postgres()
        until(lambda: _deliver(web, 4) == 202, 10)
        assert web.get("/readyz").status_code == 200
        posts = [before["id"], asked["id"]]
        until(
            lambda: town.one(f"SELECT count(*) FROM ask WHERE state = 'posted' AND post_id IN {tuple(posts)}") == 2, 90
        )
        time.sleep(12)
        replies = forum.get(f"/t/{topic}.json").json()["post_stream"]["posts"]
    assert sorted(p["reply_to_post_number"] for p in replies if p["username"] == "threadcite") == [
        before["post_number"],
        asked["post_number"],
    ]
    assert {name: process.pid for name, process in town.running.items() if process.poll() is None} == processes


def _deliver(web: httpx.Client, number: int) -> int:
    post = {
        "id": 10**9 + number,
        "topic_id": 10**9,
        "post_number": number,
        "username": "hexley",
        "user_id": 8,
        "raw": "Just a post.",
        "cooked": "<p>Just a post.</p>",
        "updated_at": "2026-01-01T00:00:00.000Z",
        "category_id": 1,
    }
    body = json.dumps({"post": post}).encode()
    signature = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "X-Discourse-Event": "post_created",
        "X-Discourse-Event-Signature": signature,
    }
    return web.post("/webhooks/discourse", content=body, headers=headers).status_code
