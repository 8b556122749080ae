"""Dump, wipe, restore with Postgres's own tools: everything equal, and nobody gets a second reply."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from clients.embedded_postgres_place import package_folder
from clients.postgres.pool import Database
from demo.runner import PracticeForum
from demo.settings import Settings
from forum.ports import Embedder
from forum.types import Answer, Question

from .conftest import SECRET, Room, fresh_database, made_up

_SKIPPED = ("procrastinate_", "health", "_yoyo", "yoyo")


def tool(name: str, *arguments: str) -> None:
    found = next(package_folder().rglob(f"bin/{name}"), None)
    if found is None:
        pytest.skip(f"the embedded Postgres comes without {name}")
    done = subprocess.run([str(found), *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def dump(url: str, file: Path) -> Path:
    tool("pg_dump", "--format=custom", "--no-owner", f"--file={file}", url)
    return file


def restored(postgres_url: str, file: Path) -> str:
    """The dump in a database that held nothing."""
    url = fresh_database(postgres_url, "template1")
    tool("pg_restore", "--no-owner", "--no-comments", "--exit-on-error", f"--dbname={url}", str(file))
    return url


def contents(url: str) -> dict[str, str]:
    """A digest of every table's rows, whatever their order."""
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1").fetchall()
        query = sql.SQL("SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM {} t")
        return {
            name: str((connection.execute(query.format(sql.Identifier(name))).fetchone() or ("",))[0])
            for (name,) in tables
            if not name.startswith(_SKIPPED)
        }


def _slowly(question: Question, life: int) -> Answer:
    """As long as a model takes, so that the catch-up is done before; and never the same words twice."""
    time.sleep(2)
    return replace(made_up(question), text=f"In its life number {life} it says: {question.text}")


@pytest.fixture
def start(postgres_url: str, embedder: Embedder) -> Iterator[Callable[[str, PracticeForum], Room]]:
    """Starts the sidecar on a database, the forum's webhook pointed at it; one at a time."""
    rooms: list[Room] = []
    pools: list[Database] = []

    def begin(url: str, forum: PracticeForum) -> Room:
        for room in rooms:
            room.stop()
        pools.append(Database(url, max_size=16))
        room = Room(pools[-1], forum, embedder, {})
        room.reset()
        room.answer = lambda question: _slowly(question, life=len(rooms))
        forum.add_hook(room.start_web(), SECRET)
        room.start_worker()
        rooms.append(room)
        return room

    yield begin
    for room in rooms:
        room.stop()
    for pool in pools:
        pool.close()


@pytest.fixture
def practice() -> Iterator[PracticeForum]:
    with PracticeForum(settings=Settings()) as forum:
        yield forum


@pytest.fixture
def first(
    start: Callable[[str, PracticeForum], Room], practice: PracticeForum, postgres_url: str, template_database: str
) -> Room:
    return start(fresh_database(postgres_url, template_database), practice)


def test_index_and_ledger_are_equal_after_a_restore(first: Room, postgres_url: str, tmp_path: Path) -> None:
    asked = first.ask(first.topic().topic_id)
    assert first.ended(asked.id).state == "posted"
    first.stop()
    file = dump(first.database.url, tmp_path / "all.dump")
    before = contents(first.database.url)
    assert before["post"] != before["gap"]
    assert contents(restored(postgres_url, file)) == before


def test_nothing_is_answered_twice_after_a_restore(
    first: Room,
    start: Callable[[str, PracticeForum], Room],
    practice: PracticeForum,
    postgres_url: str,
    tmp_path: Path,
) -> None:
    early = first.ask(first.topic().topic_id)
    assert first.ended(early.id).state == "posted"
    file = dump(first.database.url, tmp_path / "early.dump")
    # Answered after the backup was taken: the restored ledger has never heard of it.
    late = first.ask(first.topic().topic_id)
    assert first.ended(late.id).state == "posted"
    second = start(restored(postgres_url, file), practice)
    again = second.ask(second.topic().topic_id)
    assert second.ended(again.id).state == "posted"
    second.until(lambda: second.ledger.load(late.id))
    second.ended(late.id)
    for asked in (early, late, again):
        assert len(second.replies(asked.topic_id)) == 1, asked.raw
