"""What a result file says beside its numbers, and where it lies."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eval.question_set import QuestionSet
from forum.config import Config
from forum.errors import UsageError

RESULTS = Path(__file__).with_name("results")


def provenance(config: Config, *, posts: str, sets: Mapping[str, QuestionSet]) -> dict[str, Any]:
    """Date, commit, what of the config decides, models, and the digests of posts and questions."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": _commit(),
        "config": {name: getattr(config, name).model_dump(mode="json") for name in ("recall", "embedder", "reranker")},
        "source": posts,
        "sets": {role: {"name": one.name, "sha256": one.sha256, "n": len(one.questions)} for role, one in sets.items()},
    }


def machine() -> dict[str, Any]:
    """Date, commit, and how loaded the machine is: a time without these says little."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": _commit(),
        "cores": os.cpu_count(),
        "load": [round(one, 1) for one in os.getloadavg()],
    }


def save(name: str, content: Mapping[str, Any]) -> Path:
    """Write eval/results/NAME.json."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name.removesuffix('.json')}.json"
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def read(name: str) -> dict[str, Any]:
    """A result by its path or by its name in eval/results. Raises UsageError."""
    path = Path(name) if Path(name).exists() else RESULTS / f"{name.removesuffix('.json')}.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: no result of an eval command: {error}") from error
    if not isinstance(content, dict):
        raise UsageError(f"{path}: no result of an eval command.")
    return content


def _commit() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=RESULTS.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=10,
    )
    return done.stdout.strip() or "unknown"
