"""Each secret of the practice forum is asked for through every door, with all the words around it; none comes out."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import Any

import pytest
from flask.testing import FlaskClient
from typer.testing import CliRunner

from bot.__main__ import app as bot
from bot.answer import answer
from bot.digest import Digest
from bot.new_topics import older_topics
from bot.search import search
from bot.view import view_trace
from clients.discourse import DiscourseClient
from clients.fakes.scripted_llm import ScriptedLLM
from clients.postgres.gap_store import GapStore
from clients.postgres.page_store import PageStore
from clients.postgres.traces import save_trace
from clients.secrets import Secret
from demo.runner import BOT_KEY
from forum.types import Answer, Question, Scope

from .conftest import API_TOKEN, CONTROL, Asked, Scene, everything_stored

Door = Callable[[Scene, Asked], str]


def question(scene: Scene, asked: Asked, **more: Any) -> Question:
    now = scene.equipped.tools.now()
    return Question(text=asked.text, title=asked.title, asked_at=now, **more)


def recalled(scene: Scene, asked: Asked) -> str:
    """Every channel of the index for itself, with the texts of what it gives and of what stands around that."""
    index, scope = scene.equipped.tools.index, Scope()
    text = f"{asked.title}\n{asked.text}"
    vector = scene.equipped.tools.embedder.embed_query(text)
    told = []
    for hits in (
        index.nearest(vector, limit=25, scope=scope),
        index.keyword(text, limit=25, scope=scope),
        index.nearest_topics(vector, limit=25, scope=scope),
    ):
        ids = [hit.post_id for hit in hits]
        passages = list(index.passages(ids, scope=scope).values())
        passages += chain.from_iterable(index.neighbours(ids[:5], radius=5, scope=scope).values())
        told.append(str([(one.title, one.text, one.tags, one.username) for one in passages]))
    return "\n".join(told)


def found(scene: Scene, asked: Asked) -> str:
    tools, config = scene.equipped.tools, scene.equipped.config
    hits = search(question(scene, asked), tools, config, limit=25)
    return str([(one.candidate.passage.title, one.candidate.passage.text) for one in hits])


def kept(scene: Scene, given: Answer, asked: Asked) -> str:
    body = view_trace(given)
    save_trace(scene.database, given, body, question=asked.text)
    return given.text + json.dumps(body, ensure_ascii=False, default=str)


def answered(**flags: bool) -> Door:
    """The answer with its whole trace, under these flags."""

    def ask(scene: Scene, asked: Asked) -> str:
        config = scene.equipped.config
        config = config.model_copy(update={"flags": config.flags.model_copy(update=flags)})
        return kept(scene, answer(question(scene, asked), scene.equipped.tools, config), asked)

    return ask


def read_by_the_model(scene: Scene, asked: Asked) -> str:
    """What the language model is sent, when it wants to see more each time."""
    chat = ScriptedLLM(default=lambda _: "VERDICT: incorrect\nCAUSE: nothing\nMISSING: the word of the padlock")
    given = answer(question(scene, asked), replace(scene.equipped.tools, chat=chat), scene.equipped.config)
    assert chat.history
    return kept(scene, given, asked) + str(chat.history)


def pointed(scene: Scene, asked: Asked) -> str:
    """What a new topic is told of older ones."""
    given = older_topics(question(scene, asked, opening=True), scene.equipped.tools, scene.equipped.config)
    return kept(scene, given, asked)


def api(scene: Scene, asked: Asked) -> str:
    response = scene.client.post(
        "/ask",
        json={"question": f"{asked.title}\n{asked.text}"[:8000], "top_k": 20},
        headers={"Authorization": f"Bearer {API_TOKEN}"},
    )
    assert response.status_code == 200
    return response.get_data(as_text=True)


def assistant(scene: Scene, asked: Asked) -> str:
    """The two tools of the MCP server."""
    pytest.importorskip("mcp", reason="needs the `mcp` extra")
    from mcp import Client

    from bot.mcp_server import mcp_server

    server = mcp_server(scene.database, lambda: scene.equipped)
    text = f"{asked.title}\n{asked.text}"

    async def run() -> str:
        async with Client(server) as client:
            hits = await client.call_tool("search_forum", {"query": text, "limit": 25})
            given = await client.call_tool("ask_forum", {"question": text})
            return str(hits.structured_content) + str(given.structured_content)

    return asyncio.run(run())


def command_line(scene: Scene, asked: Asked) -> str:
    """`bot ask`, and `bot explain` of it."""
    environment = {"THREADCITE_DATABASE_URL": scene.database.url, "THREADCITE_CONFIG": str(scene.config_file)}
    told = CliRunner().invoke(
        bot, ["ask", asked.text, "--title", asked.title, "--json", "--trace"], env=environment, catch_exceptions=False
    )
    assert told.exit_code == 0
    made = json.loads(told.stdout)["trace_id"]
    explained = CliRunner().invoke(bot, ["explain", made], env=environment, catch_exceptions=False)
    assert explained.exit_code == 0
    return told.output + explained.output


def playground(scene: Scene, asked: Asked) -> str:
    form = {"proof": proof(scene.client), "question": asked.text, "title": asked.title, "compare": "on"}
    flags = {f"{side}.{name}": "on" for side in "ab" for name in ("posts_pipeline", "rerank", "neighbours")}
    del flags["b.posts_pipeline"]
    response = scene.client.post("/admin/playground", data={**form, **flags})
    assert response.status_code == 200
    shown = response.get_data(as_text=True)
    traces = re.findall(r"/admin/answers/(\w+)", shown)
    assert traces
    return shown + "".join(page(scene, f"/admin/answers/{one}") for one in traces)


def member(scene: Scene, asked: Asked) -> str:
    """A mention in a public topic, through webhook, queue and worker, to the reply that stands in the forum."""
    scene.room.answer = lambda q: answer(q, scene.equipped.tools, scene.equipped.config)
    asking = scene.room.ask(scene.room.topic(title=asked.title[:200] or "A question").topic_id, asked.text)
    ended = scene.room.ended(asking.id)
    shown = page(scene, f"/admin/answers/{ended.trace_id}") if ended.trace_id else ""
    return "\n".join(reply.raw for reply in scene.room.replies(asking.topic_id)) + shown


def page(scene: Scene, path: str) -> str:
    response = scene.client.get(path)
    assert response.status_code in (200, 503), (path, response.status_code)
    return response.get_data(as_text=True)


def proof(client: FlaskClient) -> str:
    shown = re.search(r'name="proof" value="(\w+)"', client.get("/admin/playground").get_data(as_text=True))
    assert shown
    return shown[1]


#: Each shows texts of posts, so each has to tell the control.
DOORS: dict[str, Door] = {
    "the index's channels": recalled,
    "search": found,
    "an answer": answered(),
    "an answer of the legacy path": answered(posts_pipeline=False),
    "an answer with the corrective loop": answered(corrective=True),
    "an answer without reranker": answered(rerank=False),
    "the language model's prompts": read_by_the_model,
    "a new topic": pointed,
    "POST /ask": api,
    "the MCP server": assistant,
    "bot ask and explain": command_line,
    "the playground": playground,
    "a member's mention": member,
}
#: What shows figures, states and questions; read when everything has been asked.
PAGES = tuple(f"/admin{path}" for path in ("/", "/answers", "/gaps", "/drafts", "/index", "/flags", "/playground")) + (
    "/metrics",
    "/readyz",
    "/healthz",
    "/openapi.json",
)


def tells(shown: str, tokens: list[str]) -> list[str]:
    """The tokens whose telling part stands in the text, whatever became of case and markup."""
    plain = shown.lower().replace("\\", "")
    return [token for token in tokens if token.partition("-")[2].lower() in plain]


@pytest.mark.parametrize("door", DOORS)
def test_a_door_tells_what_everyone_may_read_and_no_secret(door: str, scene: Scene) -> None:
    assert tells(DOORS[door](scene, scene.control), [CONTROL]) == [CONTROL]
    tokens = [one.token for one in scene.secrets]
    told = {one.token: tells(DOORS[door](scene, one), tokens) for one in scene.secrets}
    assert {asked: out for asked, out in told.items() if out} == {}


def test_pages_metrics_report_logs_and_tables_hold_none_afterwards(scene: Scene) -> None:
    scene.room.until_idle()
    tokens = [one.token for one in scene.secrets]
    config = scene.room.config()
    forum = DiscourseClient(config.forum, key=Secret(BOT_KEY))
    pages = PageStore(scene.database)
    shown = {path: page(scene, path) for path in PAGES}
    shown["digest"] = str(Digest(GapStore(scene.database), pages, forum, scene.room.config).report(config))
    shown["logs"] = scene.logs.getvalue()
    shown |= {f"table {name}": rows for name, rows in everything_stored(scene.database).items()}
    assert "request" in shown["logs"] or "event" in shown["logs"]
    assert tells(shown["table post"], [CONTROL]) == tells(shown["table trace"], [CONTROL]) == [CONTROL]
    assert {name: out for name, text in shown.items() if (out := tells(text, tokens))} == {}


def test_every_secret_is_asked_for_with_its_own_words(scene: Scene) -> None:
    assert len(scene.secrets) > 15
    assert all(len(one.title) + len(one.text) > 20 for one in scene.secrets)
    assert tells(str([(one.title, one.text) for one in scene.secrets]), [one.token for one in scene.secrets]) == []
