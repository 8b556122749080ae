"""Loads the named queries of sql/queries, each under the name that stands above it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import LiteralString, cast

SQL = Path(__file__).resolve().parents[2] / "sql"
_NAME = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


@cache
def queries(file: str) -> dict[str, LiteralString]:
    """The queries of sql/queries/FILE.sql by name. Raises ValueError on a name used twice."""
    parts = _NAME.split((SQL / "queries" / f"{file}.sql").read_text(encoding="utf-8"))
    names, bodies = parts[1::2], parts[2::2]
    if len(set(names)) != len(names):
        raise ValueError(f"sql/queries/{file}.sql: a query name is used twice")
    return {name: cast(LiteralString, body.strip()) for name, body in zip(names, bodies, strict=True)}
