"""`indexer documents add|list|remove`: files that are searched and cited beside the posts."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from clients.composition import build_embedder, open_database
from clients.config_file import load_config
from clients.console import print_json, tell
from clients.document_files import document_files
from clients.postgres.document_store import DocumentStore, Outcome
from clients.postgres.pool import Database
from forum.config import Config
from forum.errors import SourceError, ThreadciteError, UsageError

documents = typer.Typer(help="Files that are searched and cited beside the posts.", no_args_is_help=True)

Collection = Annotated[str, typer.Option(help="A name of `collections` in config.yml.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]


@documents.command("add")
def add(
    path: Annotated[Path, typer.Argument(help="A file, or a folder of files (md, txt, html, pdf).")],
    collection: Collection,
    as_json: AsJson = False,
) -> None:
    """Take files in; what is unchanged is passed over, what changed is replaced, what cannot be read is one line.

    Example: python -m indexer documents add --collection manual docs/
    """
    config = _with_collection(collection)
    done: Counter[str] = Counter()
    problems: list[str] = []
    with open_database() as database:
        store = _store(database, config)
        for file in document_files(path):
            try:
                added = store.add(collection, file)
            except SourceError as error:
                problems.append(str(error))
                done["failed"] += 1
                tell(str(error))
                continue
            done[added.outcome.value] += 1
            done["sections"] += added.sections
            if added.outcome is Outcome.DUPLICATE:
                tell(f"{file.path}: has the same content as {added.twin}; passed over.")
        left = store.without_vectors()
    if left:
        tell(
            f"{left} sections have no vector of the embedder in config.yml and are found by their words alone:"
            " `python -m indexer models fill` embeds them."
        )
    if as_json:
        names = (*(one.value for one in Outcome), "failed", "sections")
        print_json(
            {
                "collection": collection,
                **{name: done[name] for name in names},
                "without_vectors": left,
                "problems": problems,
            }
        )
    else:
        print(
            f"{collection}: {done['added']} documents added ({done['sections']} sections),"
            f" {done['unchanged']} unchanged, {done['duplicate']} duplicates, {done['failed']} could not be read."
        )
    if done["failed"] and not done["added"] + done["unchanged"]:
        raise ThreadciteError(f"No file of {path} could be read.")


@documents.command("list")
def list_(
    collection: Annotated[str | None, typer.Option(help="Only this collection.")] = None, as_json: AsJson = False
) -> None:
    """What the collections hold."""
    config = load_config()
    with open_database() as database:
        found = _store(database, config).listed(collection)
    if as_json:
        print_json({"documents": [asdict(one) for one in found]})
        return
    for one in found:
        pages = f", {one.pages} pages" if one.pages else ""
        closed = "" if one.collection in config.collections else "  (not in config.yml: not searched)"
        print(f"{one.collection}  {one.path}  {one.title}  ({one.sections} sections{pages}){closed}")
    if not found:
        print("There are no documents.")


@documents.command("remove")
def remove(
    collection: Collection,
    path: Annotated[str, typer.Argument(help="A path as `list` shows it, or a folder of such.")] = "",
    everything: Annotated[bool, typer.Option("--all", help="The whole collection.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove documents: from the next answer on nothing of them is found.

    Example: python -m indexer documents remove --collection manual old/
    """
    if bool(path) == everything:
        raise UsageError("documents remove: give a PATH, or --all for the whole collection.")
    with open_database() as database:
        gone = _store(database, load_config()).remove(collection, path.rstrip("/") or None)
    if not gone:
        raise UsageError(
            f"documents remove: {collection} has no {path or 'documents'}. `documents list` shows what it has."
        )
    if as_json:
        print_json({"collection": collection, "removed": gone})
        return
    print(f"{collection}: removed {', '.join(gone[:10])}{' ...' if len(gone) > 10 else ''}.")


def _with_collection(name: str) -> Config:
    config = load_config()
    if name not in config.collections:
        known = ", ".join(config.collections) or "none yet"
        raise UsageError(
            f"--collection {name}: config.yml has no such collection ({known}). Add `collections: {{{name}: "
            '{url: "https://.../{path}#{anchor}"}}`, which says where its documents can be read.'
        )
    return config


def _store(database: Database, config: Config) -> DocumentStore:
    return DocumentStore(database, build_embedder(config.embedder), batch_tokens=config.embedder.batch_tokens)
