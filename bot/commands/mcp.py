"""`bot mcp`: a server for assistants, over standard input and output."""

from __future__ import annotations

from bot.live_tools import LiveTools
from clients.composition import open_database
from clients.config_watch import LiveConfig
from clients.logs import set_up_logs
from forum.errors import UsageError


def mcp() -> None:
    """Serve search_forum and ask_forum to an assistant (Model Context Protocol); it starts this command itself.

    Example, in the assistant's settings: {"command": "python", "args": ["-m", "bot", "mcp"]}
    """
    try:
        from bot.mcp_server import mcp_server
    except ModuleNotFoundError as error:
        raise UsageError("bot mcp needs the `mcp` extra: pip install threadcite[mcp].") from error
    live = LiveConfig()
    # Standard output belongs to the protocol; the log goes to standard error.
    set_up_logs(live().logging)
    with open_database() as database:
        live.watch()
        mcp_server(database, LiveTools(live, database)).run()
