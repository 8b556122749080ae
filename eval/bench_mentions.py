"""Thousands of mentions from the webhook to the posted reply: memory, file handles and connections stay flat."""

from __future__ import annotations

import os
import random
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import yaml

from eval.bench_webhook import scratch_database, send, signed_deliveries
from eval.serving import serving
from forum.errors import ThreadciteError

_STEPS = 10
#: The first steps fill caches and pools.
_WARM = 2


def bench_mentions(*, count: int, rate: int = 150) -> dict[str, Any]:
    """Send `count` mentions in ten steps, wait after each until all are posted, and measure both processes.

    Returns by process the resident megabytes, open files and threads after each step, the database connections, and
    `growth` (last over the mean of the first steps after the warm-up). Raises ThreadciteError when replies stay away.
    """
    secret = secrets.token_hex(16)
    limits = {"per_member_per_hour": 100_000, "per_topic_per_hour": 100_000, "per_trust_level": {}}
    config = {"bot": {"llm_concurrency": 4, "limits": limits}, "webhook": {"catch_up": False}}
    steps: list[dict[str, Any]] = []
    with (
        scratch_database() as url,
        serving(url, config=config, environment={"THREADCITE_WEBHOOK_SECRET": secret}) as port,
        working(url, config) as worker,
    ):
        web = _child("serve")
        deliveries = signed_deliveries(count, secret, random.Random(0), mentions=100, repeats=0)
        for step in range(_STEPS):
            part = deliveries[step * count // _STEPS : (step + 1) * count // _STEPS]
            statuses, _ = send(port, part, rate=rate)
            if set(statuses) != {202}:
                raise ThreadciteError(f"Some deliveries were not taken: {sorted(set(statuses))}.")
            _wait_until_posted(url, (step + 1) * count // _STEPS)
            steps.append({"web": _usage(web), "worker": _usage(worker), "connections": _connections(url)})
    return {
        "mentions": count,
        "web": [step["web"] for step in steps],
        "worker": [step["worker"] for step in steps],
        "connections": [step["connections"] for step in steps],
        "growth": {name: _growth([step[name]["rss_mb"] for step in steps]) for name in ("web", "worker")},
    }


@contextmanager
def working(url: str, config: Mapping[str, Any], *, module: str = "eval.mentions_worker") -> Iterator[int]:
    """The worker's process id."""
    with tempfile.TemporaryDirectory(prefix="threadcite-bench-") as folder:
        path = Path(folder) / "config.yml"
        path.write_text(yaml.safe_dump(dict(config)))
        environment = {**os.environ, "THREADCITE_CONFIG": str(path), "THREADCITE_DATABASE_URL": url}
        with (Path(folder) / "work.log").open("wb") as log:
            process = subprocess.Popen([sys.executable, "-m", module], env=environment, stdout=log, stderr=log)
        try:
            yield process.pid
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(30)
            process.kill()


def _child(word: str) -> int:
    """The process of ours whose command holds this word."""
    for number in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split():
        if word.encode() in Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0"):
            return int(number)
    raise ThreadciteError("bench mentions reads /proc and runs on Linux only.")


def _growth(values: list[float]) -> float:
    warm = values[_WARM : _WARM + 3]
    return round(values[-1] / (sum(warm) / len(warm)), 3)


def _wait_until_posted(url: str, count: int) -> None:
    seen, since = -1, time.monotonic()
    with psycopg.connect(url, autocommit=True) as connection:
        while True:
            row = connection.execute("SELECT count(*) FROM ask WHERE state = 'posted'").fetchone()
            posted = int(row[0]) if row else 0
            if posted >= count:
                return
            if posted != seen:
                seen, since = posted, time.monotonic()
            if time.monotonic() - since > 120:
                raise ThreadciteError(f"Only {posted} of {count} mentions got their reply.")
            time.sleep(0.5)


def _usage(pid: int) -> dict[str, Any]:
    """Of the process and its children (gunicorn's worker)."""
    pids = [pid, *(int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
    status = [dict(line.split(":", 1) for line in Path(f"/proc/{one}/status").read_text().splitlines()) for one in pids]
    return {
        "rss_mb": round(sum(int(one["VmRSS"].split()[0]) for one in status) / 1024, 1),
        "files": sum(len(list(Path(f"/proc/{one}/fd").iterdir())) for one in pids),
        "threads": sum(int(one["Threads"]) for one in status),
    }


def _connections(url: str) -> int:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchone()
    return int(row[0]) if row else 0
