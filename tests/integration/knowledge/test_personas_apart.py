"""Two personas with disjoint categories and collections: two hundred questions, and no leak either way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.answer import answer
from bot.composition import build_tools
from bot.tools import Tools
from clients.discourse import DiscourseClient
from clients.document_files import DocumentFile
from clients.postgres.document_store import DocumentStore
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Database
from clients.secrets import Secret
from demo.runner import BOT_KEY, PracticeForum
from forum.config import Config
from forum.config_section import Section
from forum.ports import Embedder
from forum.types import Answer, Question, SourcePost

QUESTIONS = Path(__file__).parents[3] / "eval/questions/practice.jsonl"


@dataclass(frozen=True, kw_only=True)
class Apart:
    """Half of the practice forum's categories each, and a document each."""

    tools: Tools
    config: Config

    def ask(self, text: str, persona: str) -> Answer:
        return answer(Question(text=text, persona=persona), self.tools, self.config)


@pytest.fixture(scope="module")
def practice_posts() -> Iterator[tuple[DiscourseClient, list[SourcePost]]]:
    with PracticeForum() as forum:
        section = Config.parse({"forum": {"base_url": forum.url, "requests_per_minute": 100_000}}).forum
        assert isinstance(section, Section)
        client = DiscourseClient(section, key=Secret(BOT_KEY))
        posts: list[SourcePost] = []
        while page := client.latest_posts(min((one.post.id for one in posts), default=None)):
            posts += page
        yield client, posts


@pytest.fixture
def apart(
    database: Database, embedder: Embedder, practice_posts: tuple[DiscourseClient, list[SourcePost]], tmp_path: Path
) -> Apart:
    client, posts = practice_posts
    ingest = Ingest(database, embedder, Config())
    now = datetime.now(UTC)
    ingest.put_categories(client.categories(), at=now)
    ingest.ingest(posts, observed_at=now)
    ids = sorted({one.topic.category_id for one in posts if one.topic.category_id is not None})
    for name in ("left", "right"):
        (tmp_path / f"{name}.md").write_text(f"# The {name} manual\n\nThe rain gauge of the {name} house tips often.\n")
        store = DocumentStore(database, embedder, batch_tokens=8192)
        store.add(name, DocumentFile(file=tmp_path / f"{name}.md", path=f"{name}.md"))
    config = Config.parse(
        {
            "flags": {"zones": False},
            "collections": {name: {"url": f"https://{name}.example.org/{{path}}"} for name in ("left", "right")},
            "personas": [
                {"username": "left", "category_ids": ids[::2], "collections": ["left"]},
                {"username": "right", "category_ids": ids[1::2], "collections": ["right"]},
            ],
        }
    )
    return Apart(tools=build_tools(config, database), config=config)


@pytest.mark.slow
def test_two_hundred_questions_and_no_leak_either_way(apart: Apart) -> None:
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    asked = 0
    found = {"left": 0, "right": 0}
    for row in rows[:100]:
        for persona in ("left", "right"):
            allowed = set(apart.config.persona(persona).category_ids or ())
            given = apart.ask(f"{row['title']}\n{row['body']}", persona)
            asked += 1
            for one in given.sources:
                found[persona] += 1
                if one.passage.kind == "document":
                    assert one.passage.category == persona
                else:
                    assert one.passage.category_id in allowed
    assert asked == 200
    assert min(found.values()) > 300


def test_each_finds_its_own_document(apart: Apart) -> None:
    for persona in ("left", "right"):
        given = apart.ask(f"How often does the rain gauge of the {persona} house tip?", persona)
        assert {one.passage.category for one in given.sources if one.passage.kind == "document"} == {persona}


def test_a_persona_that_nobody_described_reads_nothing(apart: Apart) -> None:
    assert apart.ask("How often does the rain gauge tip?", "nobody").sources == ()


def test_the_bot_itself_reads_both(apart: Apart) -> None:
    given = apart.ask("How often does the rain gauge of the left house and of the right house tip?", "")
    assert {one.passage.category for one in given.sources if one.passage.kind == "document"} == {"left", "right"}
