"""`demo up`: practice forum and bot side by side, from nothing to a cited reply, each part a process of its own."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parents[1]
_PATIENCE_S = 60.0
_REPLY_S = 120.0
#: A member of the practice forum, and the category (Sensors) where the question of `--once` is asked.
_ASKER, _CATEGORY = "petrichor", 2


class DemoFailed(Exception):
    """A part of the demo did not come up; the message says which and where its log is."""


def up(*, once: bool, port: int, state: Path | None, question: str) -> int:
    """Run the demo until Ctrl-C, or with `once` until one mention has its reply. Returns the exit code."""
    with ExitStack() as stack:
        folder = _folder(stack, state, once)
        parts = stack.enter_context(running(folder, port=port))
        if once:
            return _ask_once(parts, question)
        _say(f"\nThe practice forum: {parts.forum_url}")
        _say("Open a topic, choose a member, write a post that mentions @threadcite, and wait a few seconds.")
        _say(f"The bot's flags are in {folder / 'config.yml'}: change one and ask again.")
        _say("Ctrl-C ends everything.")
        return parts.watch()


@contextmanager
def running(folder: Path, *, port: int = 0) -> Iterator[Parts]:
    """Forum, index, webhook and worker, up and ready, ended with the block. Raises DemoFailed."""
    parts = Parts(folder, port=_free(port), hook_port=_free(port + 1 if port else 0))
    try:
        _say("starting the practice forum ...")
        parts.start("forum", "demo", *parts.forum_arguments())
        parts.wait("forum", f"{parts.forum_url}/site.json")
        _say("reading its public posts into the index ...")
        parts.run("indexer", "backfill", "discourse")
        _say("starting the webhook and the worker ...")
        parts.start("webhook", "bot", "serve", "--port", str(parts.hook_port))
        parts.start("worker", "bot", "work")
        parts.wait("webhook", f"{parts.hook_url}/readyz")
        yield parts
    finally:
        parts.stop()


def _folder(stack: ExitStack, state: Path | None, once: bool) -> Path:
    if state is not None or not once:
        folder = (state or ROOT / ".data" / "demo").absolute()
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    folder = Path(tempfile.mkdtemp(prefix="threadcite-demo-"))
    stack.callback(_remove, folder)
    return folder


def _remove(folder: Path) -> None:
    """The folder, and the database where it really lies: for root that may be outside, with a link to it in here."""
    database = Path(os.path.realpath(folder / "data" / "postgres"))
    if not database.is_relative_to(os.path.realpath(folder)):
        shutil.rmtree(database.parent, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


class Parts:
    """The processes of the demo, with the environment that ties them together."""

    def __init__(self, folder: Path, *, port: int, hook_port: int) -> None:
        self.folder, self.port, self.hook_port = folder, port, hook_port
        self.forum_url = f"http://127.0.0.1:{port}"
        self.hook_url = f"http://127.0.0.1:{hook_port}"
        for secret in ("bot.key", "webhook.secret"):
            _kept(folder / secret)
        self.admin_key = _kept(folder / "admin.key")
        config = (ROOT / "config.yml").read_text(encoding="utf-8")
        config = config.replace("base_url: http://127.0.0.1:4200", f"base_url: {self.forum_url}")
        config = config.replace("requests_per_minute: 60 ", "requests_per_minute: 6000 ")
        (folder / "config.yml").write_text(config, encoding="utf-8")
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._environment = {
            **os.environ,
            "PYTHONUNBUFFERED": "1",
            "THREADCITE_CONFIG": str(folder / "config.yml"),
            "THREADCITE_DATA": str(folder / "data"),
            "THREADCITE_DISCOURSE_API_KEY_FILE": str(folder / "bot.key"),
            "THREADCITE_WEBHOOK_SECRET_FILE": str(folder / "webhook.secret"),
        }
        self._environment.pop("THREADCITE_DATABASE_URL", None)

    def forum_arguments(self) -> list[str]:
        return [
            *("serve", "--port", str(self.port), "--state", str(self.folder / "forum")),
            *("--webhook-url", f"{self.hook_url}/webhooks/discourse"),
            *("--webhook-secret-file", str(self.folder / "webhook.secret")),
            *("--bot-key-file", str(self.folder / "bot.key")),
            *("--admin-key-file", str(self.folder / "admin.key")),
        ]

    def start(self, name: str, module: str, *arguments: str) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                cwd=ROOT,
                env=self._environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def run(self, module: str, *arguments: str) -> None:
        done = subprocess.run([sys.executable, "-m", module, *arguments], cwd=ROOT, env=self._environment, check=False)
        if done.returncode:
            raise DemoFailed(f"python -m {module} {' '.join(arguments)} ended with exit code {done.returncode}.")

    def wait(self, name: str, url: str) -> None:
        def answers() -> bool:
            self.check()
            try:
                return httpx.get(url, timeout=2, trust_env=False).status_code == 200
            except httpx.HTTPError:
                return False

        if not _until(answers, _PATIENCE_S):
            raise DemoFailed(f"The {name} did not come up within {_PATIENCE_S:.0f} s; see {self.folder / name}.log")

    def watch(self) -> int:
        try:
            while True:
                self.check()
                time.sleep(0.5)
        except KeyboardInterrupt:
            return 0

    def stop(self) -> None:
        for process in reversed(self._running.values()):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self._running.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.run_quietly("indexer", "stop")

    def run_quietly(self, module: str, *arguments: str) -> None:
        subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT,
            env=self._environment,
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def check(self) -> None:
        """Raises DemoFailed when a part has ended by itself."""
        for name, process in self._running.items():
            if process.poll() is not None:
                log = (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")
                raise DemoFailed(
                    f"The {name} ended with exit code {process.returncode}. Its last lines:\n{log[-1500:]}"
                )


def _ask_once(parts: Parts, question: str) -> int:
    forum = httpx.Client(base_url=parts.forum_url, timeout=10, trust_env=False)
    asked = _post_question(forum, parts, question)
    _say(f"\n@{asked['username']} asks in {parts.forum_url}/t/{asked['topic_slug']}/{asked['topic_id']}:\n")
    _say(question)
    reply: dict[str, Any] = {}

    def replied() -> bool:
        parts.check()
        page = forum.get(f"/t/{asked['topic_id']}.json", params={"include_raw": "true"}).json()
        for post in page["post_stream"]["posts"]:
            if post["username"] == "threadcite" and post["reply_to_post_number"] == asked["post_number"]:
                reply.update(post)
        return bool(reply)

    started = time.monotonic()
    if not _until(replied, _REPLY_S):
        raise DemoFailed(f"No reply within {_REPLY_S:.0f} s; see the logs in {parts.folder}")
    _say(f"\n@threadcite replies after {time.monotonic() - started:.1f} s:\n\n{reply['raw']}")
    return 0


def _post_question(forum: httpx.Client, parts: Parts, question: str) -> dict[str, Any]:
    """A member opens a topic that asks the bot. Raises DemoFailed when the forum refuses it."""
    words = " ".join(word for word in question.split() if not word.startswith("@"))
    answer = forum.post(
        "/posts.json",
        json={"title": f"{words[:80].rstrip(' ?.')}?", "raw": question, "category": _CATEGORY},
        headers={"Api-Key": parts.admin_key, "Api-Username": _ASKER},
    )
    if answer.status_code != 200:
        raise DemoFailed(f"The forum refused the question ({answer.status_code}): {answer.text[:300]}")
    asked: dict[str, Any] = answer.json()
    return asked


def _kept(path: Path) -> str:
    """A random secret that stays the same for a state folder, readable by its owner only."""
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_hex(24), encoding="ascii")
    return path.read_text(encoding="ascii").strip()


def _free(port: int) -> int:
    """`port` if nobody listens there, else one that the system picks."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _until(true: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.25)
    return False


def _say(line: str) -> None:
    print(line, flush=True)
