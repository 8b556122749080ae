"""`python -m indexer`: fill the index from a forum, look after it, see how it stands."""

from __future__ import annotations

import typer

from clients.console import run
from indexer.commands.backfill import backfill
from indexer.commands.database import migrate_command, stop_command
from indexer.commands.doctor import doctor
from indexer.commands.documents import documents
from indexer.commands.forget import forget
from indexer.commands.models import models
from indexer.commands.reconcile import reconcile
from indexer.commands.status import status
from indexer.commands.verify import verify
from indexer.commands.work import pause, resume, work

app = typer.Typer(
    name="indexer",
    help="Fill the index from a forum, look after it, see how it stands.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("backfill")(backfill)
app.command("work")(work)
app.command("pause")(pause)
app.command("resume")(resume)
app.command("status")(status)
app.command("verify")(verify)
app.command("reconcile")(reconcile)
app.command("forget")(forget)
app.add_typer(models, name="models")
app.add_typer(documents, name="documents")
app.command("doctor")(doctor)
app.command("migrate")(migrate_command)
app.command("stop")(stop_command)

if __name__ == "__main__":
    run(app)
