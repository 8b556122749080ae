"""`demo up --once` removes its folder, and the database where it really lies."""

from __future__ import annotations

from pathlib import Path

from demo.up import _remove


def test_a_database_outside_the_folder_goes_with_it(tmp_path: Path) -> None:
    folder, outside = tmp_path / "demo", tmp_path / "system" / "data-x1"
    (outside / "postgres").mkdir(parents=True)
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "postgres").symlink_to(outside / "postgres")
    _remove(folder)
    assert not folder.exists()
    assert not outside.exists()
    assert outside.parent.exists()


def test_nothing_beside_the_folder_is_touched(tmp_path: Path) -> None:
    (tmp_path / "demo" / "data" / "postgres").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    _remove(tmp_path / "demo")
    assert [one.name for one in tmp_path.iterdir()] == ["other"]
