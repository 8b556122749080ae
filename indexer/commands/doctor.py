"""`indexer doctor`: look at a running installation and say what to mend."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated

import typer

from clients.composition import open_database
from clients.config_file import load_config
from clients.console import DONE, FAILED, print_json
from indexer.doctor import FINE, WRONG, examine


def doctor(
    web: Annotated[str, typer.Option(help="The address of `bot serve`.")] = "http://127.0.0.1:4201",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")] = False,
) -> None:
    """Check secrets, database, clock, models, the recall query's plan, the forum, the key's scopes and the webhook.

    It changes nothing and posts nothing. Exit code 1 when something is wrong; each such line says how to mend it.

    Example: python -m indexer doctor
    """
    config = load_config()
    found = []
    with open_database() as database:
        for finding in examine(config, database, web=web.rstrip("/")):
            found.append(finding)
            if not json:
                print(
                    f"{finding.state:8} {finding.check}: {finding.what}"
                    + (f" -> {finding.mend}" if finding.mend else "")
                )
    wrong = [finding for finding in found if finding.state == WRONG]
    if json:
        print_json({"ok": not wrong, "findings": [asdict(finding) for finding in found]})
    elif not any(finding.state != FINE for finding in found):
        print("Everything is as it should be.")
    sys.exit(FAILED if wrong else DONE)
