"""An archive is read whatever tool wrote it; what cannot be read is named, and the rest is indexed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from clients.postgres.backfill_store import BackfillStore
from clients.postgres.pool import Database
from forum.errors import UsageError
from indexer.backfill import Progress

from .conftest import lines, record

Backfill = Callable[..., tuple[Progress, list[str]]]
Stored = Callable[[], dict[int, str]]

TEN = [record(number) for number in range(1, 11)]
PLAIN = lines(TEN)

READABLE = {
    "plain": ("posts.jsonl", PLAIN),
    "byte order mark": ("posts.jsonl", b"\xef\xbb\xbf" + PLAIN),
    "CRLF": ("posts.jsonl", PLAIN.replace(b"\n", b"\r\n")),
    "no final newline": ("posts.jsonl", PLAIN.rstrip(b"\n")),
    "gzipped": ("posts.jsonl.gz", gzip.compress(PLAIN)),
    "gzipped, not named so": ("posts.jsonl", gzip.compress(PLAIN)),
    "named .gz but plain": ("posts.jsonl.gz", PLAIN),
    "gzip with a byte order mark": ("posts.jsonl.gz", gzip.compress(b"\xef\xbb\xbf" + PLAIN)),
    "an array": ("posts.json", json.dumps(TEN).encode()),
    "an indented array": ("posts.json", json.dumps(TEN, indent=2).encode()),
    "a page of latest posts": ("posts.json", json.dumps({"latest_posts": TEN}, indent=2).encode()),
}


@pytest.mark.parametrize("form", READABLE)
def test_every_form_gives_all_ten_posts(form: str, tmp_path: Path, backfill: Backfill, stored: Stored) -> None:
    name, content = READABLE[form]
    (tmp_path / name).write_bytes(content)
    done, problems = backfill(tmp_path / name)
    assert list(stored()) == list(range(1, 11))
    assert (done.indexed, problems) == (10, [])


def test_empty_and_null_lines_are_skipped_with_a_count(tmp_path: Path, backfill: Backfill, stored: Stored) -> None:
    rows = PLAIN.splitlines(keepends=True)
    (tmp_path / "posts.jsonl").write_bytes(b"".join([*rows[:5], b"\n", b"null\n", *rows[5:]]))
    done, problems = backfill(tmp_path)
    assert len(stored()) == 10
    assert (done.skipped["empty line"], problems) == (2, [])


def test_a_broken_line_is_named_by_file_and_line_and_the_rest_is_indexed(
    tmp_path: Path, backfill: Backfill, stored: Stored
) -> None:
    rows = PLAIN.splitlines(keepends=True)
    (tmp_path / "posts.jsonl").write_bytes(b"".join([*rows[:4], b'{"id": 5, "topic\n', *rows[5:]]))
    done, problems = backfill(tmp_path)
    assert list(stored()) == [1, 2, 3, 4, 6, 7, 8, 9, 10]
    assert len(problems) == 1
    assert f"{tmp_path}/posts.jsonl, line 5: broken JSON" in problems[0]
    assert done.skipped["broken line"] == 1


@pytest.mark.parametrize("line", [b"3\n", b'"text"\n', b"[1]\n", b'{"id": "x"}\n', b'{"id": 3}\n', b"\xff\xfe\n"])
def test_a_line_that_is_no_post_is_named(line: bytes, tmp_path: Path, backfill: Backfill, stored: Stored) -> None:
    (tmp_path / "posts.jsonl").write_bytes(lines(TEN[:1]) + line + lines(TEN[1:]))
    _, problems = backfill(tmp_path)
    assert len(stored()) == 10
    assert len(problems) == 1
    assert "posts.jsonl, line 2" in problems[0]


def test_a_file_gzipped_twice_is_one_line_that_names_it(tmp_path: Path, backfill: Backfill, stored: Stored) -> None:
    (tmp_path / "posts.jsonl.gz").write_bytes(gzip.compress(gzip.compress(PLAIN)))
    _, problems = backfill(tmp_path)
    assert stored() == {}
    assert len(problems) == 1
    assert "posts.jsonl.gz: gzipped twice" in problems[0]


def test_a_cut_gzip_keeps_its_whole_lines_and_the_mended_file_finishes_without_doubles(
    tmp_path: Path, backfill: Backfill, stored: Stored
) -> None:
    many = [record(number, f"{number * 7919} " * 40) for number in range(1, 401)]
    packed = gzip.compress(lines(many))
    file = tmp_path / "posts.jsonl.gz"
    file.write_bytes(packed[: len(packed) * 7 // 10])
    _, problems = backfill(file)
    kept = list(stored())
    assert 0 < len(kept) < 400
    assert kept == list(range(1, len(kept) + 1))
    assert len(problems) == 1
    assert "posts.jsonl.gz, after line" in problems[0]
    file.write_bytes(packed)
    done, problems = backfill(file)
    assert list(stored()) == list(range(1, 401))
    assert (done.unchanged, problems) == (len(kept), [])


def test_a_broken_file_does_not_stop_the_next_one(tmp_path: Path, backfill: Backfill, stored: Stored) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines(TEN[:5]))[:-9])
    (tmp_path / "b.jsonl").write_bytes(lines(TEN[5:]))
    _, problems = backfill(tmp_path)
    assert {6, 7, 8, 9, 10} <= set(stored())
    assert len(problems) == 1


def test_a_topic_page_gives_its_posts_with_the_topics_own_title_and_tags(
    tmp_path: Path, backfill: Backfill, stored: Stored, database: Database
) -> None:
    page = {
        "id": 4,
        "title": "Rain gauges",
        "slug": "rain-gauges",
        "tags": ["hardware", {"id": 3, "name": "rain"}],
        "post_stream": {"posts": [record(number, topic_id=4, post_number=number) for number in (1, 2)]},
    }
    (tmp_path / "topic.json").write_text(json.dumps(page, indent=1))
    backfill(tmp_path)
    with database.connection() as connection:
        rows = connection.execute("SELECT DISTINCT title, tags FROM public_post").fetchall()
    assert rows == [("Rain gauges", ["hardware", "rain"])]
    assert len(stored()) == 2


def test_a_folder_without_archives_and_a_path_that_is_not_there_are_refused(tmp_path: Path, backfill: Backfill) -> None:
    with pytest.raises(UsageError, match=r"no \*\.json"):
        backfill(tmp_path)
    with pytest.raises(UsageError, match="no such file"):
        backfill(tmp_path / "absent")


def test_two_runs_over_one_source_at_once_are_refused(tmp_path: Path, backfill: Backfill, database: Database) -> None:
    (tmp_path / "posts.jsonl").write_bytes(PLAIN)
    with (
        BackfillStore(database).alone(f"archive:{tmp_path}"),
        pytest.raises(UsageError, match="another process"),
    ):
        backfill(tmp_path)


def test_of_many_broken_lines_the_first_are_named_and_the_rest_is_counted(
    tmp_path: Path, backfill: Backfill, stored: Stored
) -> None:
    (tmp_path / "posts.jsonl").write_bytes(PLAIN + b"no post\n" * 1000)
    done, problems = backfill(tmp_path / "posts.jsonl")
    assert (len(stored()), done.skipped["broken line"], len(problems)) == (10, 1000, 6)
    assert problems[-1].endswith("posts.jsonl: 995 more broken lines were passed over.")


@pytest.mark.parametrize(
    "content",
    [b"Dear diary,\n" * 1000, b"Dear diary,\n", b"\x1f\x8bno gzip at all", gzip.compress(b"x,y\n1,2\n")],
    ids=["text", "one line", "broken gzip", "gzipped table"],
)
def test_a_file_that_is_no_archive_is_refused_in_one_line(content: bytes, tmp_path: Path, backfill: Backfill) -> None:
    (tmp_path / "posts.jsonl.gz").write_bytes(content)
    with pytest.raises(UsageError, match=r"posts\.jsonl\.gz: "):
        backfill(tmp_path / "posts.jsonl.gz")


def test_in_a_folder_such_a_file_is_named_once_and_the_others_are_indexed(
    tmp_path: Path, backfill: Backfill, stored: Stored
) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"Dear diary,\n" * 1000)
    (tmp_path / "b.jsonl").write_bytes(PLAIN)
    _, problems = backfill(tmp_path)
    assert (len(stored()), len(problems)) == (10, 1)
    assert "a.jsonl: its first 20 lines are no posts (line 1: broken JSON" in problems[0]
