"""`python -m demo`: the practice forum alone (`serve`), or with the bot beside it (`up`)."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from demo.content import CONTENT
from demo.runner import PracticeForum
from demo.up import DemoFailed, up
from forum.errors import UsageError

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__, pretty_exceptions_enable=False)
QUESTION = "@threadcite my humidity sensor stays at 100 % after fog. Is it broken, or can it be dried?"


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.")] = 4200,
    state: Annotated[Path | None, typer.Option(help="Folder to keep posts in; without it they go at the end.")] = None,
    content: Annotated[Path, typer.Option(help="Folder with forum.yml and topics/.")] = CONTENT,
    webhook_url: Annotated[str, typer.Option(help="Where to send webhooks; none without it.")] = "",
    webhook_secret_file: Annotated[Path | None, typer.Option(help="File with the webhooks' secret.")] = None,
    bot_key_file: Annotated[Path | None, typer.Option(help="File with the bot's API key.")] = None,
    admin_key_file: Annotated[Path | None, typer.Option(help="File with a key that may act as anybody.")] = None,
) -> None:
    """Serve the practice forum until Ctrl-C. Keys also come from PRACTICE_BOT_KEY and PRACTICE_ADMIN_KEY."""
    bot_key = _secret(bot_key_file, "PRACTICE_BOT_KEY")
    admin_key = _secret(admin_key_file, "PRACTICE_ADMIN_KEY")
    try:
        forum = PracticeForum(
            host=host,
            port=port,
            content=content,
            state=state,
            webhook_url=webhook_url,
            webhook_secret=_secret(webhook_secret_file, "PRACTICE_WEBHOOK_SECRET"),
            keys={},
            bot_key=bot_key,
            admin_key=admin_key,
        )
    except OSError as error:
        raise UsageError(f"--port {port} on {host} cannot be taken: {error.strerror or error}") from error

    def end(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    with forum:
        print(f"The practice forum is at {forum.url}", flush=True)
        try:
            forum.wait()
        except KeyboardInterrupt:
            return


@app.command("up")
def up_command(
    once: Annotated[bool, typer.Option(help="Answer one mention, print the reply and leave.")] = False,
    port: Annotated[int, typer.Option(help="Port of the forum.")] = 4200,
    state: Annotated[Path | None, typer.Option(help="Folder to keep everything in.")] = None,
    question: Annotated[str, typer.Option(help="The post that asks, with --once.")] = QUESTION,
) -> None:
    """Start the practice forum, index it, start the bot beside it."""
    try:
        code = up(once=once, port=port, state=state, question=question)
    except DemoFailed as error:
        print(error, file=sys.stderr)
        code = 1
    raise typer.Exit(code)


def _secret(path: Path | None, variable: str) -> str:
    """The secret in a file, else in the environment, else none."""
    if path is None:
        return os.environ.get(variable, "")
    try:
        return path.read_text("utf-8").strip()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


if __name__ == "__main__":
    try:
        app()
    except UsageError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
