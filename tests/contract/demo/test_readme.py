"""The practice forum's README names everything that it can be told."""

from __future__ import annotations

from pathlib import Path

import pytest

from demo.faults import KINDS
from demo.practice import OPERATIONS

README = (Path(__file__).parents[3] / "demo" / "README.md").read_text("utf-8")


@pytest.mark.parametrize("name", [*(f"| `{kind}` |" for kind in KINDS), *OPERATIONS])
def test_the_readme_names_it(name: str) -> None:
    assert name in README
