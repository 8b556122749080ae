"""The config changes, breaks and mends while the forum calls a hundred times a second: no request fails."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
from werkzeug.serving import make_server

from bot.web import build_app
from clients.config_watch import LiveConfig
from clients.postgres.config_history import ConfigHistory
from clients.postgres.pool import Database
from clients.secrets import Secret

SECRET = "of the tests"
CALLS, A_SECOND, CALLERS = 800, 100, 16
GOOD = ("bot: {mode: shadow}\n", "bot: {mode: live}\nflags: {triage: false}\n", "forum: {languages: [fr, en]}\n")
BAD = ("", "bot: {mod: live}\n", "bot: {mode: sha")


def _post(number: int) -> bytes:
    at = "2026-11-30T12:00:00.000Z"
    post = {
        "id": number,
        "topic_id": 1,
        "post_number": number,
        "cooked": "<p>words</p>",
        "username": "jane",
        "user_id": 5,
    }
    return json.dumps({"post": {**post, "created_at": at, "updated_at": at, "version": 1}}).encode()


def test_no_request_fails_while_the_config_changes(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "config.yml"
    file.write_text(GOOD[0])
    live = LiveConfig(file, tell=ConfigHistory(database).note)
    live.watch()
    server = make_server("127.0.0.1", 0, build_app(database, live, [Secret(SECRET)]), threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    numbers, codes = itertools.count(), list[int]()
    begin, over = time.monotonic(), threading.Event()

    def call(_: int) -> None:
        with httpx.Client(base_url=f"http://127.0.0.1:{server.server_port}", trust_env=False, timeout=20) as client:
            while (number := next(numbers)) < CALLS:
                # By the clock, not when the one before is done: a slow answer holds up nobody else's.
                time.sleep(max(0.0, begin + number / A_SECOND - time.monotonic()))
                body = _post(number + 1)
                signature = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
                headers = {"X-Discourse-Event-Signature": signature, "X-Discourse-Event": "post_created"}
                codes.append(client.post("/webhooks/discourse", content=body, headers=headers).status_code)

    def change() -> None:
        for content in itertools.cycle((*GOOD, *BAD)):
            file.write_text(content)
            if over.wait(1.2):
                return

    changer = threading.Thread(target=change)
    changer.start()
    with ThreadPoolExecutor(CALLERS) as pool:
        list(pool.map(call, range(CALLERS)))
    over.set()
    changer.join()
    server.shutdown()
    assert codes == [202] * CALLS
    assert len(ConfigHistory(database).rows()) >= 4
