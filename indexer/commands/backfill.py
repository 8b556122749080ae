"""`indexer backfill SOURCE`: index a source from where the last run stopped."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from clients.composition import build_embedder, open_database
from clients.config_file import load_config
from clients.console import FAILED, print_json, tell
from clients.postgres.backfill_store import BackfillStore
from clients.postgres.ingest import Ingest
from indexer.backfill import Progress
from indexer.backfill import backfill as run_backfill
from indexer.progress import progress_bar
from indexer.sources import forum_host, open_source
from indexer.stopping import stoppable
from indexer.until import Until


def backfill(
    source: Annotated[
        str,
        typer.Argument(
            help="archive:PATH (a file or folder of JSON or JSON Lines, .gz or not), discourse (the forum of"
            " config.yml, by its API), or database:URL (a Discourse Postgres, read only)."
        ),
    ],
    limit: Annotated[int | None, typer.Option(min=1, help="Stop after this many posts; the next run goes on.")] = None,
    host: Annotated[
        str | None,
        typer.Option(help="The forum's host in an archive's links. Default: the host that most of them name."),
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="Only posts written before this day (UTC), as an eval looks back."),
    ] = None,
    text_only: Annotated[
        bool,
        typer.Option("--text-only", help="Leave the vectors to `indexer work`, on as many machines as you like."),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")] = False,
) -> None:
    """Index a source: what is new or changed is embedded and stored, what is unchanged costs next to nothing.

    Stop it at any time (Ctrl-C, kill): the same command goes on from the last whole batch. A run that ended starts
    anew and finds what changed. Only public posts enter; `status` says what was skipped and why.

    Exit code 0: done. 1: something could not be read (each file is named, and its first broken lines). 2: the call or
    config is wrong, or a file that is no archive.

    Example: python -m indexer backfill archive:exports/ --limit 1000
    """
    config = load_config()
    problems: list[str] = []

    def problem(line: str) -> None:
        problems.append(line)
        tell(line)

    posts = open_source(source, config, on_problem=problem, on_wait=tell)
    forum = host or forum_host(posts, config)
    if until is not None:
        posts = Until(posts, until.replace(tzinfo=UTC))
    embedder = build_embedder(config.embedder)
    with stoppable(), open_database() as database:
        ingest = Ingest(database, embedder, config, forum_host=forum)
        with progress_bar() as show:
            done = run_backfill(
                posts,
                ingest,
                BackfillStore(database),
                batch_posts=config.indexer.batch_posts,
                limit=limit,
                vectors=not text_only,
                on_progress=show,
            )
        active = next((one.name for one in ingest.models.models() if one.active), None)
    if active != embedder.model.name:
        tell(f"recall still reads the vectors of {active}: python -m indexer models switch {embedder.model.name}")
    report = _report(source, done, embedder.model.name, problems)
    if json:
        print_json(report)
    else:
        print(_sentence(done))
    if problems:
        raise typer.Exit(FAILED)


def _report(source: str, done: Progress, model: str, problems: list[str]) -> dict[str, Any]:
    return {
        "source": source,
        "state": done.state,
        "seen": done.seen,
        "indexed": done.indexed,
        "unchanged": done.unchanged,
        "skipped": dict(done.skipped),
        "set_aside": done.set_aside,
        "truncated": done.truncated,
        "resumed_after": done.before,
        "model": model,
        "seconds": round(done.seconds, 2),
        "rate": round(done.seen / done.seconds, 1) if done.seconds else None,
        "problems": problems,
    }


def _sentence(done: Progress) -> str:
    parts = [f"{done.seen} posts read in {done.seconds:.0f} s: {done.indexed} indexed, {done.unchanged} unchanged"]
    parts += [f"{count} {reason}" for reason, count in sorted(done.skipped.items())]
    if done.set_aside:
        parts.append(f"{done.set_aside} of the indexed set aside by the embedder (`indexer verify` lists them)")
    if done.truncated:
        parts.append(f"{done.truncated} of the indexed cut to the model's limit")
    if done.state == "stopped":
        parts.append("stopped at the limit; the same command goes on")
    return ", ".join(parts) + "."
