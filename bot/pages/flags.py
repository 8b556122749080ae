"""Flags: every key of the config, what it does, what it is, since when, and by whom the file was changed."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from flask import Blueprint, Response

from bot.pages.frame import Room, language, show
from bot.pages.wording import keys_in_french
from clients.config_file import config_path
from clients.postgres.config_history import ConfigHistory
from forum.config import Config
from forum.config_keys import flat, waits_for_start

_FILE = Path(__file__).resolve().parents[2] / "config.yml"
_LINE = re.compile(r"^(?P<indent> *)(?P<key>\w+):(?P<value>.*?)(?:\s# (?P<comment>.*))?$")


def add_routes(routes: Blueprint, room: Room) -> None:
    history = ConfigHistory(room.database)

    @routes.get("/flags")
    def show_flags() -> Response:
        now, since, rows = flat(room.config()), history.since(), history.rows()
        defaults = flat(Config())
        sections: dict[str, list[dict[str, Any]]] = {}
        for key, value in now.items():
            sections.setdefault(key.partition(".")[0], []).append(
                {
                    "key": key,
                    "value": value,
                    "default": defaults[key],
                    "changed": value != defaults[key],
                    "waits": waits_for_start(key),
                    "since": since.get(key),
                    **explained(key),
                }
            )
        first = {"flags": sections.pop("flags"), "bot": sections.pop("bot")}
        return show(room, "flags", "flags", sections={**first, **sections}, rows=rows, file=str(config_path()))


def explained(key: str) -> dict[str, str]:
    """What the key does, in the reader's language where there are such words, else as config.yml says it."""
    if language() == "fr" and key in keys_in_french():
        return {"what": keys_in_french()[key], "lang": "fr"}
    return {"what": comments().get(key, ""), "lang": "en"}


@cache
def comments() -> dict[str, str]:
    """Dotted key -> the comment beside it in the config.yml that comes with this version."""
    found: dict[str, str] = {}
    path: list[str] = []
    try:
        lines = _FILE.read_text(encoding="utf-8").splitlines()
    except OSError:
        return found
    for line in lines:
        if (match := _LINE.match(line)) is None:
            continue
        depth = len(match["indent"]) // 2
        path = [*path[:depth], match["key"]]
        if match["comment"]:
            found[".".join(path)] = match["comment"].strip()
    return found
