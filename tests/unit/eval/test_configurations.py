"""Each row of the ablation is a config that the product accepts, and another one than the defaults."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval.configurations import CONFIGURATIONS, DEFAULTS, Configuration, of_cross_encoder
from eval.runner import FORMS
from eval.settings import config_with

_ALL = (*CONFIGURATIONS, *of_cross_encoder("cross-encoder/ms-marco-MiniLM-L-6-v2"))


@pytest.fixture(autouse=True)
def _config_as_it_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THREADCITE_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("one", _ALL, ids=lambda one: one.name)
def test_every_setting_is_one_of_the_config_and_taken_as_written(one: Configuration) -> None:
    config = config_with(one.settings)
    for setting in one.settings:
        key, _, value = setting.partition("=")
        told: Any = reduce(getattr, key.split("."), config)
        assert yaml.safe_load(value) == (list(told) if isinstance(told, tuple) else told)
    assert one.form in FORMS


@pytest.mark.parametrize("one", _ALL, ids=lambda one: one.name)
def test_every_row_but_the_first_differs_from_the_defaults(one: Configuration) -> None:
    same = config_with(one.settings) == config_with(()) and one.form == "full"
    assert same == (one.name == DEFAULTS)


def test_no_two_rows_have_one_name() -> None:
    assert len({one.name for one in _ALL}) == len(_ALL)


def test_the_defaults_come_first_for_the_others_are_compared_with_them() -> None:
    assert CONFIGURATIONS[0].name == DEFAULTS


def test_each_of_the_designs_rows_adds_one_part_to_the_one_before() -> None:
    rows = [config_with(one.settings) for one in CONFIGURATIONS if one.name in tuple("ABCDE")]
    assert [one.flags.rerank for one in rows] == [False, True, True, True, True]
    assert [len(one.recall.channels) for one in rows] == [1, 1, 1, 2, 3]
    assert [one.flags.neighbours for one in rows] == [False, False, True, True, True]
