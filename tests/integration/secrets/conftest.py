"""The whole product around the practice forum, fed by a key that may see everything and by deliveries of all of it."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
import structlog
import yaml
from flask.testing import FlaskClient
from psycopg import sql

from bot.api_tokens import Tokens
from bot.composition import build_tools
from bot.live_tools import Equipped
from bot.web import build_app
from clients.discourse import DiscourseClient
from clients.discourse_source import DiscourseSource
from clients.logs import set_up_logs
from clients.postgres.backfill_store import BackfillStore
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Database
from clients.secrets import Secret
from clients.wordllama_embedder import WordLlamaEmbedder
from demo.content import CONTENT
from demo.runner import ADMIN_KEY, PracticeForum
from demo.settings import Settings
from demo.store import Event
from forum.config import Config
from indexer.backfill import backfill
from tests.integration.bot.conftest import SECRET, Room, fresh_database

API_TOKEN, ADMIN_TOKEN = "0123456789abcdef", "an admin token of the tests"
#: What everyone may read: each channel that shows posts has to find it, or it could not find a secret either.
CONTROL = "PUBLIC-zephyr-6180"
CONTROL_TITLE = "Where the spare anemometer cups of the club are kept"
CONTROL_TEXT = f"The spare anemometer cups are kept in the blue drawer, the padlock's word is {CONTROL}, ask nobody."


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is asked: all the words around a token, never the token itself."""

    token: str
    title: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The product with its index, pages and logs, and what to ask it."""

    database: Database
    room: Room
    equipped: Equipped
    client: FlaskClient
    logs: io.StringIO
    secrets: tuple[Asked, ...]
    control: Asked
    config_file: Path


@pytest.fixture(scope="module")
def logs() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    root = logging.getLogger()
    before, level = root.handlers, root.level
    set_up_logs(Config().logging, stream)
    yield stream
    root.handlers = before
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture(scope="module")
def scene(
    postgres_url: str, template_database: str, logs: io.StringIO, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Scene]:
    pytest.importorskip("wordllama", reason="needs the `embedded` extra")
    url = fresh_database(postgres_url, template_database)
    embedder = WordLlamaEmbedder()
    with Database(url, max_size=24) as database, PracticeForum(settings=Settings()) as practice:
        room = Room(database, practice, embedder, {})
        room.reset()
        room.set("flags", zones=False)
        room.set("new_topics", enabled=True, category_ids=[1], threshold=-50)
        _see_everything(practice, room, database, embedder)
        secrets = tuple(_asked(practice, one) for one in _listed())
        try:
            practice.add_hook(room.start_web(), SECRET)
            room.start_worker()
            _tell_everything(practice, room)
            config_file = tmp_path_factory.mktemp("config") / "config.yml"
            config_file.write_text(yaml.safe_dump(room.settings))
            app = build_app(
                database,
                room.config,
                [Secret(SECRET)],
                Tokens([Secret(f"tests:{API_TOKEN}")]),
                admin_token=Secret(ADMIN_TOKEN),
            )
            client = app.test_client()
            assert client.post("/admin/login", data={"token": ADMIN_TOKEN}).status_code == 303
            yield Scene(
                database=database,
                room=room,
                equipped=Equipped(tools=build_tools(room.config(), database), config=room.config()),
                client=client,
                logs=logs,
                secrets=secrets,
                control=Asked(token=CONTROL, title=CONTROL_TITLE, text=CONTROL_TEXT.replace(CONTROL, "")),
                config_file=config_file,
            )
        finally:
            room.stop()


def _see_everything(practice: PracticeForum, room: Room, database: Database, embedder: WordLlamaEmbedder) -> None:
    """A backfill with an admin's key, which shows restricted categories and more."""
    practice.forum.create_post(
        room.member("hexley"), CONTROL_TEXT, title=CONTROL_TITLE, category=1, skip_validations=True
    )
    config = room.config()
    section = config.forum.model_copy(update={"bot_username": "maelle"})
    source = DiscourseSource(DiscourseClient(section, key=Secret(ADMIN_KEY)), config)
    backfill(source, Ingest(database, embedder, config), BackfillStore(database), batch_posts=1000)


def _tell_everything(practice: PracticeForum, room: Room) -> None:
    """A delivery of every post and topic that holds a secret, with the system's rights, as a real webhook sends it."""
    store = practice.forum.store
    for one in _listed():
        topic = store.topics[one["topic_id"]]
        post = store.post_numbered(topic.id, max(one["post_number"], 1))
        assert post is not None
        names = ("post_created", "post_edited", "post_recovered")
        store.commit(
            [],
            [
                Event(type="topic", name="topic_edited", record=topic),
                *(Event(type="post", name=name, record=post) for name in names),
            ],
        )
        room.until(lambda post=post: room.received(post.id))
    room.until_idle()


def _listed() -> list[dict[str, Any]]:
    return list(yaml.safe_load((CONTENT / "secrets.yml").read_text("utf-8"))["secrets"])


def _asked(practice: PracticeForum, one: dict[str, Any]) -> Asked:
    store = practice.forum.store
    post = store.post_numbered(one["topic_id"], max(one["post_number"], 1))
    assert post is not None
    words = [store.topics[one["topic_id"]].title, post.raw]
    for token in (other["token"] for other in _listed()):
        words = [text.replace(token, "") for text in words]
    return Asked(token=one["token"], title=words[0], text=words[1])


def everything_stored(database: Database) -> dict[str, str]:
    """Every row of every table, as text."""
    stored = {}
    with psycopg.connect(database.url) as connection:
        names = connection.execute(
            "SELECT table_name FROM information_schema.tables"
            " WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
        ).fetchall()
        for (name,) in names:
            rows = connection.execute(sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(name))).fetchall()
            stored[name] = "\n".join(row[0] for row in rows)
    return stored
