"""`bot ask QUESTION`: answer one question now, from the command line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from bot.answer import answer
from bot.composition import build_tools
from bot.view import view, view_trace
from clients.composition import open_database
from clients.config_file import load_config
from clients.console import print_json, tell
from clients.postgres.traces import save_trace
from forum.types import Question
from forum.unicode_safety import safe

_LONGEST = 2_000_000


def ask(
    question: Annotated[str, typer.Argument(help="The question; `-` reads it from standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, keys as in the docs.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="With --json: every stage's decision too.")] = False,
    title: Annotated[str, typer.Option(help="The title of the topic that the question stands in.")] = "",
    language: Annotated[str | None, typer.Option(help="Language of the reply; default: the question's.")] = None,
) -> None:
    """Answer a question from the index, with citations.

    Example: python -m bot ask "How do I calibrate the rain gauge?"
    """
    text = sys.stdin.buffer.read(_LONGEST).decode("utf-8", "replace") if question == "-" else question
    config = load_config()
    with open_database() as database:
        tools = build_tools(config, database)
        asked = Question(text=safe(text), title=safe(title), language=language, asked_at=tools.now())
        given = answer(asked, tools, config)
        save_trace(database, given, view_trace(given), question=asked.text)
        if not tools.index.size():
            tell("The index is empty. Fill it first: python -m indexer backfill discourse (or archive:PATH).")
    if as_json:
        print_json(view_trace(given) if trace else view(given))
        return
    print(given.text)
    down = f", without: {', '.join(given.degraded)}" if given.degraded else ""
    print(f"\n-- zone {given.zone.value}, route {given.route.value}{down}; python -m bot explain {given.trace_id}")
