"""A config file that is cut off, emptied, removed or swapped while the bot runs (has been reported)."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
import structlog

from clients.config_watch import LiveConfig, Reading
from forum.errors import ConfigError

LIVE = "bot:\n  mode: live\nflags:\n  triage: true\n  rerank: false\n"
SHADOW = LIVE.replace("live", "shadow")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.yml"
    path.write_text(LIVE)
    return path


@pytest.fixture
def live(file: Path) -> LiveConfig:
    return LiveConfig(file)


def looks(live: LiveConfig, times: int = 2) -> Reading:
    return [live.look() for _ in range(times)][-1]


def test_a_change_is_in_force_after_two_looks(live: LiveConfig, file: Path) -> None:
    file.write_text(SHADOW)
    assert live.look().config.bot.mode == "live"
    assert live.look().config.bot.mode == "shadow"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "# only\n# comments\n",
        LIVE[:20],
        LIVE[: len("bot:\n  mode: live\n")],
        "bot: [",
        "bot:\n  mod: off\n",
        "\x00",
    ],
    ids=["empty", "comments", "half a line", "whole lines", "no YAML", "unknown key", "no text"],
)
def test_what_cannot_be_right_leaves_the_old_config(live: LiveConfig, file: Path, content: str) -> None:
    file.write_text(content)
    reading = looks(live)
    assert reading.config.bot.mode == "live"
    assert not reading.config.flags.rerank
    assert str(file) in reading.refusal


def test_half_of_a_changed_file_is_refused(live: LiveConfig, file: Path) -> None:
    file.write_text(SHADOW[:-5])
    assert "half written" in looks(live).refusal


def test_a_removed_file_leaves_the_old_config_and_its_return_ends_the_refusal(live: LiveConfig, file: Path) -> None:
    file.unlink()
    assert "gone" in looks(live).refusal
    file.write_text(LIVE)
    assert looks(live).refusal == ""
    assert live().bot.mode == "live"


def test_a_refusal_is_said_once(live: LiveConfig, file: Path) -> None:
    file.write_text("")
    with structlog.testing.capture_logs() as lines:
        looks(live, 10)
    assert [line["event"] for line in lines] == ["config_refused"]


def test_the_log_names_the_keys_that_wait_for_a_restart(live: LiveConfig, file: Path) -> None:
    file.write_text(SHADOW + "api:\n  waiting: 9\n")
    with structlog.testing.capture_logs() as lines:
        looks(live, 3)
    assert [line["waits_for_restart"] for line in lines] == [["api.waiting"]]


def test_a_swapped_folder_of_the_same_size_and_time_is_seen(tmp_path: Path) -> None:
    for name, content in (("one", LIVE), ("two", LIVE.replace("live", "off "))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.yml").write_text(content)
        os.utime(tmp_path / name / "config.yml", (1_700_000_000, 1_700_000_000))
    (tmp_path / "..data").symlink_to("one")
    (tmp_path / "config.yml").symlink_to("..data/config.yml")
    live = LiveConfig(tmp_path / "config.yml")
    (tmp_path / "..new").symlink_to("two")
    (tmp_path / "..new").replace(tmp_path / "..data")
    assert looks(live).config.bot.mode == "off"


def test_two_saves_in_a_second_end_on_the_last(live: LiveConfig, file: Path) -> None:
    file.write_text(SHADOW)
    live.look()
    file.write_text(LIVE)
    assert looks(live, 3).config.bot.mode == "live"
    assert live.reading.refusal == ""


def test_a_watching_process_sees_a_change_within_two_seconds(live: LiveConfig, file: Path) -> None:
    live.watch()
    file.write_text(SHADOW)
    end = time.monotonic() + 10
    while live().bot.mode != "shadow":
        assert time.monotonic() < end
        time.sleep(0.05)


def test_what_changed_is_told_once_and_again_when_telling_failed(file: Path) -> None:
    told: list[str] = []

    def tell(reading: Reading) -> None:
        told.append(reading.config.bot.mode)
        if len(told) == 1:
            raise OSError("the database is away")

    live = LiveConfig(file, tell=tell)
    looks(live, 4)
    assert told == ["live", "live"]


def test_the_first_reading_must_be_right(tmp_path: Path) -> None:
    (tmp_path / "config.yml").write_text("")
    with pytest.raises(ConfigError, match="holds no keys"):
        LiveConfig(tmp_path / "config.yml")
