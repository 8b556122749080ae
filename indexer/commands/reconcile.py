"""`indexer reconcile`: compare the index with the forum, and mend it."""

from __future__ import annotations

from json import dumps
from typing import Annotated

import typer

from clients.composition import build_embedder, build_forum, open_database
from clients.config_file import load_config
from clients.console import print_json
from clients.postgres.backfill_store import BackfillStore
from clients.postgres.ingest import Ingest
from clients.postgres.ledger import Ledger
from clients.postgres.mark import Mark
from indexer.backfill import Progress
from indexer.progress import progress_bar
from indexer.reconcile import reconcile as run_reconcile
from indexer.sources import open_source
from indexer.stopping import stoppable


def reconcile(
    source: Annotated[
        str, typer.Argument(help="discourse (the forum of config.yml), or database:URL of its Postgres.")
    ] = "discourse",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell the drift, change nothing.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Remove even when the forum seems to have lost a fifth of its posts.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")] = False,
) -> None:
    """Read the whole forum, compare it with the index, tell the drift by kind and mend it.

    Webhooks are sent at most once, and none is sent for a hidden post, a moved one or a category turned private:
    run this every night. Replies that rest on what was removed are handed to the worker.
    """
    config = load_config()
    posts = open_source(source, config, on_problem=lambda line: None)
    ask = build_forum(config) if source == "discourse" else None
    with stoppable(), open_database() as database:
        ingest = Ingest(database, build_embedder(config.embedder), config)
        marks = BackfillStore(database)
        name = f"reconcile of {posts.name}"
        with marks.alone(name), progress_bar() as show:
            marks.restart(name, posts.total())
            drift = run_reconcile(
                posts,
                ingest,
                database,
                ask=ask,
                repair=not dry_run,
                force=force,
                on_progress=lambda seen, seconds: show(Progress(seen=seen, seconds=seconds)),
            )
            marks.advance(Mark(source=name, cursor=None, seen=drift.checked, skipped=drift.kinds))
            marks.end(name, "done")
            told_pages = {"checked": drift.checked, "drift": drift.total, **drift.kinds, "repaired": drift.repaired}
            Ledger(database).set_health("reconcile", "ok", dumps(told_pages))
    if json:
        print_json(
            {
                "checked": drift.checked,
                "drift": drift.kinds,
                "total": drift.total,
                "forgotten": drift.forgotten,
                "repaired": drift.repaired,
                "replies_to_correct": drift.replies_to_correct,
            }
        )
        return
    told = ", ".join(f"{count} {kind}" for kind, count in drift.kinds.items() if count) or "no drift"
    unchanged = "" if drift.repaired or not drift.total else " (nothing changed)"
    forgotten = f" {drift.forgotten} of them were forgotten by hand and stay so." if drift.forgotten else ""
    print(f"{drift.checked} posts checked: {told}{unchanged}.{forgotten}")
