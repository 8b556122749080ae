"""A forum with a state folder goes on where it was, also after SIGKILL."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

from demo.journal import Journal
from demo.runner import ADMIN_KEY, PracticeForum
from forum.errors import UsageError

CONTENT = Path(__file__).parent / "content"
ROOT = Path(__file__).parents[3]
HEADERS = {"Api-Key": ADMIN_KEY, "Api-Username": "ada"}


def test_posts_edits_and_event_numbers_outlive_a_restart(tmp_path: Path) -> None:
    with PracticeForum(content=CONTENT, state=tmp_path) as forum:
        ada = forum.forum.store.users[1]
        made = forum.forum.create_post(ada, "A post that stays where it is.", topic_id=10)
        forum.forum.edit_post(ada, made.id, "The text that it has in the end.")
        events = forum.forum.store.next_event_id
    with PracticeForum(content=CONTENT, state=tmp_path) as again:
        assert again.forum.store.posts[made.id].raw == "The text that it has in the end."
        assert again.forum.store.next_event_id == events > 1
        assert len(again.forum.store.posts_of(10)) == 7


def test_a_kill_loses_no_acknowledged_post(tmp_path: Path) -> None:
    process, url = _serve(tmp_path)
    acknowledged: list[int] = []

    def write(name: int) -> None:
        with httpx.Client(base_url=url, headers=HEADERS, trust_env=False) as client:
            for number in range(1000):
                raw = f"Post {number} of writer {name}, long enough."
                try:
                    answer = client.post("/posts.json", json={"raw": raw, "topic_id": 10})
                except httpx.TransportError:
                    return
                acknowledged.append(answer.json()["id"])

    writers = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for writer in writers:
        writer.start()
    while len(acknowledged) < 40:
        assert process.poll() is None
    process.kill()
    process.wait()
    for writer in writers:
        writer.join()
    with PracticeForum(content=CONTENT, state=tmp_path) as forum:
        assert set(acknowledged) <= set(forum.forum.store.posts)


def test_a_line_cut_short_by_a_kill_is_dropped_and_the_next_one_is_whole(tmp_path: Path) -> None:
    (tmp_path / "forum.jsonl").write_bytes(b'{"event":1,"rows":[]}\n{"event":2,"ro')
    journal = Journal(tmp_path)
    assert [line["event"] for line in journal.lines()] == [1]
    journal.append({"event": 3, "rows": []})
    assert [line["event"] for line in Journal(tmp_path).lines()] == [1, 3]


def test_a_damaged_journal_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "forum.jsonl").write_bytes(b'{"event":1,"rows":[]}\nnonsense\n{"event":3,"rows":[]}\n')
    with pytest.raises(UsageError, match=r"forum\.jsonl, line 2"):
        list(Journal(tmp_path).lines())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--content", "nowhere"], "forum.yml"),
        (["--webhook-secret-file", "nowhere"], "nowhere cannot be read"),
        (["--host", "203.0.113.1"], "--port"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_code_2(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "demo", "serve", "--port", "0", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert words in done.stderr


def _serve(state: Path) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "demo", "serve", "--port", "0", "--content", str(CONTENT), "--state", str(state)],
        cwd=ROOT,
        env={**os.environ, "PRACTICE_ADMIN_KEY": ADMIN_KEY},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().split()[-1]
