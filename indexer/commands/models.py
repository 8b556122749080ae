"""`indexer models list|fill|switch|drop`: several embedders side by side, one of them read."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from clients.composition import build_embedder, open_database
from clients.config_file import load_config
from clients.console import print_json
from clients.discourse_vectors import DiscourseVectors
from clients.postgres.document_store import DocumentStore
from clients.postgres.ingest import Ingest
from clients.postgres.model_store import ModelStore
from indexer.adopt import adopt as run_adopt
from indexer.stopping import stoppable

models = typer.Typer(
    help="Several embedders side by side: fill a new one while the old one answers, then switch.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")]
Name = Annotated[str, typer.Argument(help="A model's name as `models list` shows it.")]


@models.command("list")
def list_models(json: Json = False) -> None:
    """Show the models that the index has vectors of; recall reads the active one."""
    with open_database() as database:
        found = ModelStore(database).models()
    if json:
        print_json(
            {
                "models": [
                    {
                        "name": one.name,
                        "dimensions": one.dimensions,
                        "active": one.active,
                        "vectors": one.vectors,
                        "set_aside": one.set_aside,
                        "index": one.index_kind,
                    }
                    for one in found
                ]
            }
        )
        return
    table = Table("model", "dimensions", "active", "vectors", "set aside", "index")
    for one in found:
        row = (one.name, one.dimensions, "yes" if one.active else "", one.vectors, one.set_aside, one.index_kind)
        table.add_row(*map(str, row))
    Console().print(table)


@models.command()
def fill(json: Json = False) -> None:
    """Embed every post and document with the embedder of config.yml, beside what is there; build its index.

    The texts come from the index: the forum is not read again. Recall goes on with the active model until `switch`.
    """
    config = load_config()
    with stoppable(), open_database() as database:
        embedder = build_embedder(config.embedder)
        ingest = Ingest(database, embedder, config)
        done = ingest.fill()
        sections = DocumentStore(database, embedder, batch_tokens=config.embedder.batch_tokens).fill()
        kind = ingest.models.build_index(ingest.model)
        model = ingest.model
    if json:
        print_json({"model": model.name, "embedded": done, "sections": sections, "index": kind, "active": model.active})
        return
    print(f"{done} texts and {sections} sections of documents embedded with {model.name}, index: {kind}.")
    if not model.active:
        print(f"Recall still reads the other model: python -m indexer models switch {model.name}")


@models.command()
def adopt(
    url: Annotated[str, typer.Argument(metavar="database:URL", help="The Discourse Postgres, read only.")],
    json: Json = False,
) -> None:
    """Take over the vectors of Discourse AI for texts that have none, after a check on 20 posts.

    Run it after `backfill SOURCE --text-only`, with the embedder in config.yml that Discourse AI uses.
    """
    config = load_config()
    with stoppable(), open_database() as database:
        embedder = build_embedder(config.embedder)
        ingest = Ingest(database, embedder, config)
        foreign = DiscourseVectors(url.removeprefix("database:"), dimensions=embedder.model.dimensions)
        done = run_adopt(foreign, ingest, embedder)
        ingest.models.build_index(ingest.model)
    if json:
        print_json({"model": embedder.model.name, "vectors": done.vectors, "cosine": round(done.cosine, 4)})
    else:
        print(f"{done.vectors} vectors of Discourse AI taken over (mean cosine {done.cosine:.4f} on the sample).")


@models.command()
def switch(name: Name, json: Json = False) -> None:
    """Make recall read this model's vectors, in one statement. Set the same model in config.yml."""
    with open_database() as database:
        model = ModelStore(database).switch(name)
    if json:
        print_json({"active": model.name})
    else:
        print(f"Recall reads {model.name} from now on; config.yml must name the same embedder.")


@models.command()
def drop(name: Name, json: Json = False) -> None:
    """Delete the vectors of a model that is not active."""
    with open_database() as database:
        dropped = ModelStore(database).drop(name)
    if json:
        print_json({"dropped": name, "vectors": dropped})
    else:
        print(f"{dropped} vectors of {name} deleted.")
