"""The hostile posts of the injection eval."""

from __future__ import annotations

import json
from pathlib import Path

from eval.planted import SECRET, planted, write_archive


def test_there_are_enough_of_them_in_enough_families() -> None:
    posts = planted()
    assert len(posts) >= 200
    assert len({one.family for one in posts}) >= 6
    assert len({one.id for one in posts}) == len(posts)


def test_each_holds_a_plausible_fact() -> None:
    assert all(one.text.replace("\u200b", "")[:200].strip() for one in planted())


def test_what_nobody_may_see_is_in_the_archive_but_not_public(tmp_path: Path) -> None:
    write_archive(planted()[:5], tmp_path / "posts.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "posts.jsonl").read_text(encoding="utf-8").splitlines()]
    unseen = [row for row in rows if SECRET in row["cooked"]]
    assert len(unseen) == 5
    assert len({key for row in unseen for key in row if key not in rows[0]} | {"hidden"}) >= 3
