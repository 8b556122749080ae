"""`indexer forget user|post|topic ID`: remove by hand, for good."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from clients.composition import build_embedder, open_database
from clients.config_file import load_config
from clients.console import print_json
from clients.postgres.ingest import Ingest
from forum.errors import UsageError
from indexer.forget import forget as run_forget


def forget(
    kind: Annotated[str, typer.Argument(help="user, post or topic")],
    number: Annotated[int, typer.Argument(metavar="ID", help="Its id at the forum.")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")] = False,
) -> None:
    """Remove a post, a topic or everything of a user from the index, the statistics and the traces, for good.

    Nothing that the forum tells later brings it back. Replies that cite it are handed to the worker to be edited.

    Example: python -m indexer forget user 4711
    """
    if kind not in ("user", "post", "topic"):
        raise UsageError(f"forget {kind}: say user, post or topic, then the id.")
    config = load_config()
    with open_database() as database:
        ingest = Ingest(database, build_embedder(config.embedder), config)
        gone = run_forget(kind, number, ingest, database)  # type: ignore[arg-type]
    if json:
        print_json(asdict(gone))
        return
    print(
        f"Forgot {gone.posts} posts: {gone.vectors} vectors and {gone.terms} words of their own are gone,"
        f" {gone.questions} questions are blank, {gone.replies_to_correct} replies wait to be edited."
    )
