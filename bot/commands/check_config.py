"""`bot check-config`: say whether a config file is right, and what it means, before anything runs on it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clients.config_file import config_path, load_config
from clients.console import print_json
from forum.config_keys import AT_START


def check_config(
    file: Annotated[Path | None, typer.Argument(help="Default: THREADCITE_CONFIG, else config.yml.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The whole config, defaults filled in.")] = False,
) -> None:
    """Validate a config file. Exit code 2 and one line when a key or value is wrong."""
    config = load_config(file or config_path())
    if as_json:
        print_json(config.model_dump(mode="json"))
        return
    on = [name for name, value in config.flags if value]
    off = [name for name, value in config.flags if not value]
    print(f"{file or config_path()} is valid.")
    print(f"mode {config.bot.mode}, forum {config.forum.base_url}, bot @{config.forum.bot_username}")
    print(f"embedder {config.embedder.backend}, reranker {config.reranker.backend}, LLM {config.llm.backend}")
    children = "with" if config.indexer.include_subcategories else "without"
    chosen = ", ".join(map(str, config.indexer.category_ids)) or "all public ones"
    print(f"categories: {chosen}, {children} their subcategories")
    print(f"waits for a restart when it changes: {', '.join(key.rstrip('.') for key in AT_START)}")
    print(f"flags on: {', '.join(on) or 'none'}; off: {', '.join(off) or 'none'}")
