"""The docs name every key, command and file that there is, and none that there is not."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

from forum.config import Config
from forum.config_keys import flat

ROOT = Path(__file__).resolve().parents[3]
DOCS = sorted((ROOT / "docs").rglob("*.md"))


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    loader = SourceFileLoader("pages", str(ROOT / "scripts" / "pages"))
    module = module_from_spec(spec_from_loader("pages", loader))
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["configuration.md", "architecture.md"])
def test_what_the_code_writes_is_as_the_code_is(pages: ModuleType, page: str) -> None:
    assert (ROOT / "docs" / page).read_text(encoding="utf-8") == pages.written(page, pages.PAGES[page]())


def test_every_key_is_documented() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    for key in flat(Config()):
        assert re.search(rf"^\| `{re.escape(key)}` \| .* \| \S.*\|$", text, re.MULTILINE), key


def test_every_secret_is_documented() -> None:
    code = "\n".join(p.read_text() for room in ("clients", "bot", "indexer") for p in (ROOT / room).rglob("*.py"))
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    for name in set(re.findall(r'read_secrets?\(\s*"(\w+)"', code)):
        assert f"`THREADCITE_{name}`" in text, name


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\((?!https?://|#|mailto:)([^)#]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_every_key_that_a_page_names_exists(path: Path) -> None:
    sections = {key.partition(".")[0] for key in flat(Config())}
    known = set(flat(Config())) | {"bot.limits"}
    for name in re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)`", path.read_text(encoding="utf-8")):
        if name.partition(".")[0] in sections and not name.endswith((".py", ".yml", ".md", ".svc")):
            assert name in known, name


@pytest.mark.parametrize("room", ["bot", "indexer", "eval"])
def test_every_command_that_a_page_names_exists(room: str) -> None:
    done = subprocess.run([sys.executable, "-m", room, "--help"], cwd=ROOT, capture_output=True, text=True)
    for path in DOCS:
        for command in re.findall(rf"python -m {room} ([a-z][a-z-]*)", path.read_text(encoding="utf-8")):
            assert re.search(rf"\b{command}\b", done.stdout), (path.name, command)
