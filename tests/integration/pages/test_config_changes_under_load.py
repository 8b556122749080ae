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
    numbers, codes = itertools.count(1), list[int]()
    end = time.monotonic() + 8

    def call(_: int) -> None:
        with httpx.Client(base_url=f"http://127.0.0.1:{server.server_port}", trust_env=False, timeout=20) as client:
            while time.monotonic() < end:
                body = _post(next(numbers))
                signature = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
                headers = {"X-Discourse-Event-Signature": signature, "X-Discourse-Event": "post_created"}
                codes.append(client.post("/webhooks/discourse", content=body, headers=headers).status_code)
                time.sleep(0.04)

    def change() -> None:
        for content in itertools.cycle((*GOOD, *BAD)):
            if time.monotonic() > end:
                return
            file.write_text(content)
            time.sleep(1.2)

    changer = threading.Thread(target=change)
    changer.start()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(call, range(4)))
    changer.join()
    server.shutdown()
    assert len(codes) > 200
    assert set(codes) == {202}
    assert len(ConfigHistory(database).rows()) >= 4
