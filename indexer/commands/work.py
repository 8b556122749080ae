"""`indexer work`, `pause`, `resume`: many workers embed the texts that wait."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from clients.composition import build_embedder, open_database
from clients.config_file import load_config
from clients.console import print_json
from clients.postgres.ingest import Ingest
from clients.postgres.lease_store import LeaseStore
from clients.postgres.pausing import Pausing
from indexer.backfill import Progress
from indexer.progress import progress_bar
from indexer.stopping import stoppable


def work(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")] = False,
) -> None:
    """Embed the texts that wait for a vector, newest first, until none is left; then build the index.

    Start it as often as you like, on as many machines as reach THREADCITE_DATABASE_URL. Kill one and the others take
    its texts over within two minutes.

    Example: python -m indexer backfill discourse --text-only, then python -m indexer work on every machine.
    """
    config = load_config()
    with stoppable(), open_database() as database:
        ingest = Ingest(database, build_embedder(config.embedder), config)
        leases = LeaseStore(database)
        total = leases.waiting(ingest.model.id)
        with progress_bar() as show:
            seen, spent = 0, 0.0

            def report(embedded: int, seconds: float) -> None:
                nonlocal seen, spent
                seen, spent = seen + embedded, spent + seconds
                show(Progress(seen=seen, total=total, seconds=spent))

            done = ingest.fill(largest=config.indexer.batch_posts, leases=leases, on_batch=report, wait_for_others=True)
        kind = ingest.models.build_index(ingest.model)
    if json:
        print_json({"worker": leases.worker, "embedded": done, "model": ingest.model.name, "index": kind})
    else:
        print(f"{done} texts embedded with {ingest.model.name}, index: {kind}.")


def pause() -> None:
    """Let all backfills and workers wait after their present batch."""
    with open_database() as database:
        Pausing(database).pause()
    print("Paused. Go on with: python -m indexer resume", file=sys.stderr)


def resume() -> None:
    """Let paused backfills and workers go on."""
    with open_database() as database:
        Pausing(database).resume()
