"""`indexer verify`: hold the index against itself, and mend it."""

from __future__ import annotations

from typing import Annotated

import typer

from clients.composition import build_embedder, open_database
from clients.config_file import load_config
from clients.console import FAILED, print_json
from clients.postgres.ingest import Ingest
from indexer.verify import FAULTS
from indexer.verify import repair as run_repair
from indexer.verify import verify as run_verify


def verify(
    repair: Annotated[bool, typer.Option("--repair", help="Put right what is wrong, then look again.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")] = False,
) -> None:
    """Check that every public text has its vector, that no other text is stored, that the statistics add up.

    Lists the posts that the embedder could not take, with the reason. Exit code 1 when something is wrong.
    """
    config = load_config()
    opened = list(config.indexer.opened_category_ids)
    with open_database() as database:
        ingest = Ingest(database, build_embedder(config.embedder), config)
        if repair:
            run_repair(database, ingest, opened=opened)
        found = run_verify(database, ingest.model.id, opened=opened)
    if json:
        print_json(found)
    else:
        print(f"{found['posts']} posts, model {ingest.model.name}: {'all well' if found['ok'] else 'not all is well'}.")
        for name in FAULTS:
            if found[name]:
                print(f"  {name.replace('_', ' ')}: {found[name]} (python -m indexer verify --repair)")
        for one in found["set_aside"]:
            print(f"  set aside: post {one['post_id']} after {one['tries']} tries: {one['reason']}")
    if not found["ok"]:
        raise typer.Exit(FAILED)
