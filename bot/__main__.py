"""`python -m bot`: serve the webhook, work through mentions, ask, explain, check the config."""

from __future__ import annotations

import typer

from bot.commands.ask import ask
from bot.commands.check_config import check_config
from bot.commands.explain import explain
from bot.commands.graph import graph
from bot.commands.health import health
from bot.commands.mcp import mcp
from bot.commands.serve import serve
from bot.commands.work import work
from clients.console import run

app = typer.Typer(
    name="bot",
    help="Answer members from the forum's own posts, every claim cited.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("serve")(serve)
app.command("work")(work)
app.command("ask")(ask)
app.command("explain")(explain)
app.command("graph")(graph)
app.command("health")(health)
app.command("mcp")(mcp)
app.command("check-config")(check_config)

if __name__ == "__main__":
    run(app)
