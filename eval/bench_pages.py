"""The admin pages over many stored answers, asked of the real web process: how long each takes."""

from __future__ import annotations

import http.client
import secrets
import time
from typing import Any
from urllib.parse import urlencode

import numpy as np
from psycopg.types.json import Jsonb

from clients.postgres.pool import Connection
from eval.bench_database import bench_database
from eval.serving import serving
from forum.config import Config

#: What an operator opens, each as it is reached from the pages; `{trace}` is a stored answer.
PAGES = (
    "/",
    "/?days=90",
    "/answers",
    "/answers?zone=abstain",
    "/answers?q=word77",
    "/answers/{trace}",
    "/playground",
    "/drafts",
    "/gaps",
    "/gaps?state=closed",
    "/index",
    "/flags",
)
_ROUNDS = 20
_CANDIDATES = 25


def bench_pages(*, answers: int) -> dict[str, Any]:
    """`pages` has the p50 and p95 in ms by page, `worst_p95_ms` the slowest of them.

    A fifth of the answers are abstentions, five a gap. Raises ThreadciteError when the server does not start.
    """
    token = secrets.token_hex(16)
    environment = {"THREADCITE_WEBHOOK_SECRET": token, "THREADCITE_ADMIN_TOKEN": token}
    with (
        bench_database(f"bench_pages_{answers}", lambda connection: _fill(connection, answers)) as database,
        serving(database.url, config=Config.parse({}).model_dump(mode="json"), environment=environment) as port,
    ):
        cookie = _signed_in(port, token)
        pages = {page: _timed(port, "/admin" + page.format(trace=f"trace{answers // 2}"), cookie) for page in PAGES}
    return {"answers": answers, "worst_p95_ms": max(page["p95_ms"] for page in pages.values()), "pages": pages}


def _timed(port: int, path: str, cookie: str) -> dict[str, float]:
    took: list[float] = []
    size = 0
    for _ in range(_ROUNDS):
        started = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", path, headers={"Cookie": cookie})
        response = connection.getresponse()
        size = len(response.read())
        connection.close()
        if response.status != 200:
            raise RuntimeError(f"{path} answered {response.status}.")
        took.append((time.perf_counter() - started) * 1000)
    rows = {f"p{one}_ms": round(float(np.percentile(took, one)), 1) for one in (50, 95)}
    return {**rows, "kilobytes": round(size / 1024, 1)}


def _signed_in(port: int, token: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/admin/login", body=urlencode({"token": token}), headers=form)
    response = connection.getresponse()
    response.read()
    return (response.getheader("Set-Cookie") or "").partition(";")[0]


def _fill(connection: Connection, answers: int) -> None:
    """Answers a minute apart; each names its ask, each abstention is in a gap, and one in 200 waits as a draft."""
    connection.execute("INSERT INTO category (id, name, read_restricted) VALUES (1, 'general', false)")
    connection.execute(
        "INSERT INTO topic (id, title, category_id, created_at)"
        " SELECT n, 'topic ' || n, 1, now() FROM generate_series(1, %(n)s / 10) n",
        {"n": answers},
    )
    connection.execute(
        "INSERT INTO post (id, topic_id, post_number, username, user_id, created_at, updated_at, text, doc_length)"
        " SELECT n, 1 + n %% (%(n)s / 10), 1 + n / (%(n)s / 10), 'member' || n %% 900, n %% 900, now(), now(), 'text',"
        " 1 FROM generate_series(1, %(n)s) n",
        {"n": answers},
    )
    connection.execute(
        "INSERT INTO ask (post_id, topic_id, post_number, user_id, username, title, question, state, form, asked_at,"
        " reply_raw, trace_id, created_at, updated_at)"
        " SELECT n, 1 + n %% (%(n)s / 10), 1 + n / (%(n)s / 10), n %% 900, 'member' || n %% 900, 'topic ' || n,"
        " 'how does word' || n || ' work with word' || n %% 977, CASE WHEN n %% 5 = 0 THEN 'abstained'"
        " WHEN n %% 200 = 1 THEN 'draft' ELSE 'posted' END, at, at, 'It tips [[1]].', 'trace' || n, at, at"
        " FROM (SELECT n, now() - n * interval '60 seconds' AS at FROM generate_series(1, %(n)s) n) made",
        {"n": answers},
    )
    connection.execute(
        "INSERT INTO trace (id, ask_post_id, question, zone, route, answer, body, ms, created_at)"
        " SELECT trace_id, post_id, question, CASE WHEN post_id %% 5 = 0 THEN 'abstain' WHEN post_id %% 5 = 1"
        " THEN 'weak' ELSE 'ok' END, CASE WHEN post_id %% 5 = 0 THEN 'refused' ELSE 'answered' END, reply_raw,"
        " %(body)s, 40, created_at FROM ask",
        {"body": Jsonb(_trace())},
    )
    connection.execute(
        "INSERT INTO gap (state, closed_at) SELECT CASE WHEN n %% 4 = 0 THEN 'closed' ELSE 'open' END, now()"
        " FROM generate_series(1, %(n)s / 25) n",
        {"n": answers},
    )
    connection.execute(
        "INSERT INTO gap_ask (ask_post_id, gap_id) SELECT post_id, 1 + post_id / 5 %% (%(n)s / 25) FROM ask"
        " WHERE state = 'abstained'",
        {"n": answers},
    )


def _trace() -> dict[str, Any]:
    """As big as a real one: every candidate with its ranks and score, a prompt, a reply."""
    fused = [[1000 + n, 0.03 - n / 1000, {"posts": n + 1, "keyword": n + 2}] for n in range(_CANDIDATES)]
    prompt = [{"role": "user", "content": " ".join(f"word{n}" for n in range(900))}]
    data = {
        "recall": {"pipeline": "posts", "texts": ["a question"], "channels": {}, "fused": fused},
        "rerank": {"logits": [[1000 + n, 2.0 - n / 5] for n in range(_CANDIDATES)]},
        "generate": {"prompt": prompt, "reply": "It tips [[1]]."},
    }
    stages = [
        {"stage": name, "decision": "done", "reason": "", "ms": 3.5, "data": data.get(name, {})}
        for name in ("read", "gate", "triage", "recall", "rerank", "aggregate", "zone", "generate", "verify", "render")
    ]
    body = {"answer": "It tips.", "zone": "ok", "route": "answered", "language": "en", "sources": [], "citations": []}
    timings = {stage["stage"]: stage["ms"] for stage in stages}
    return {**body, "timings_ms": {**timings, "total": 35}, "degraded": [], "stages": stages}
