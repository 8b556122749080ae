"""A small forum in a real Postgres, and the product's own tools and web app over it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient

from bot.api_tokens import Tokens
from bot.composition import build_tools
from bot.tools import Tools
from bot.web import build_app
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Database
from clients.secrets import Secret
from clients.wordllama_embedder import WordLlamaEmbedder
from forum.config import Config
from forum.types import Category, Post, SourcePost, Topic

START = datetime(2025, 1, 1, tzinfo=UTC)
TOKEN = "0123456789abcdef"
#: (topic, category, title, text): posts numbered from 1, one an hour.
Row = tuple[int, int, str, str]
Write = Callable[[Sequence[Row]], None]

KITES: tuple[Row, ...] = (
    (1, 1, "Which knot for the bridle?", "Tie the bridle with a larks head knot, it never slips and is easy to undo."),
    (2, 1, "Line breaks in strong wind", "Above six beaufort a 90 kg dyneema line breaks; use 150 kg line instead."),
    (
        3,
        1,
        "Washing a ripstop sail",
        "Wash ripstop nylon by hand in lukewarm water without softener, then hang it.",
    ),
    (4, 2, "Varnish for a cello", "Spirit varnish with shellac dries in a day; oil varnish needs weeks of sunlight."),
    (5, 2, "Rehairing a bow", "A cello bow needs about 170 horse hairs, tied with waxed silk thread at both ends."),
)


def source_posts(rows: Sequence[Row]) -> list[SourcePost]:
    """The rows as a source would tell them."""
    numbers: dict[int, int] = {}
    posts = []
    for at, (topic, category, title, text) in enumerate(rows, start=1):
        numbers[topic] = numbers.get(topic, 0) + 1
        when = START + timedelta(hours=at)
        posts.append(
            SourcePost(
                post=Post(
                    id=at,
                    topic_id=topic,
                    post_number=numbers[topic],
                    cooked=f"<p>{text}</p>",
                    created_at=when,
                    updated_at=when,
                    user_id=1,
                    username="ann",
                ),
                topic=Topic(id=topic, title=title, slug=f"topic-{topic}", category_id=category, created_at=when),
            )
        )
    return posts


@pytest.fixture(scope="session")
def embedder() -> WordLlamaEmbedder:
    pytest.importorskip("wordllama", reason="needs the `embedded` extra")
    return WordLlamaEmbedder()


@pytest.fixture
def write(database: Database, embedder: WordLlamaEmbedder) -> Write:
    """write([(topic, category, title, text), ...]) into public categories."""

    def write(rows: Sequence[Row]) -> None:
        ingest = Ingest(database, embedder, Config())
        ids = sorted({row[1] for row in rows})
        categories = [Category(id=one, name=f"Category {one}", read_restricted=False) for one in ids]
        ingest.put_categories(categories, at=START)
        ingest.ingest(source_posts(rows))

    return write


@pytest.fixture
def kites(write: Write) -> None:
    write(KITES)


@pytest.fixture
def config() -> Config:
    # Thresholds are made for forums of thousands of posts; this one has five.
    zones = [{"model": "features", "abstain": -20, "ok": 0}]
    return Config.parse({"api": {"per_minute": 10_000}, "reranker": {"zones": zones}})


@pytest.fixture
def tools(database: Database, config: Config, embedder: WordLlamaEmbedder) -> Tools:
    return build_tools(config, database)


@pytest.fixture
def app(database: Database, config: Config, kites: None) -> Flask:
    return build_app(database, lambda: config, [Secret("of the webhook")], Tokens([Secret(f"tests:{TOKEN}")]))


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()
