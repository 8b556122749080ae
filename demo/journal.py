"""The practice forum's disk: an append-only file of JSON lines, one line a change.

A line is in the kernel's hands before the change is answered: a killed process loses nothing that it acknowledged.
A line cut short by the kill was never acknowledged: it is dropped at the next start.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forum.errors import UsageError


class Journal:
    """The file `forum.jsonl` in a folder, or nothing at all when there is no folder (state in memory only)."""

    def __init__(self, folder: Path | None) -> None:
        self.path = folder / "forum.jsonl" if folder else None
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("ab", buffering=0) if self.path else None

    def lines(self) -> Iterator[dict[str, Any]]:
        """Every whole line, oldest first; the rest of the file is cut off.

        Raises UsageError when a line before the last one is not JSON: that is no kill but a damaged file.
        """
        if self.path is None or self._file is None:
            return
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:whole].split(b"\n")[:-1], 1):
            try:
                yield json.loads(line)
            except ValueError:
                raise UsageError(
                    f"{self.path}, line {number} is not JSON: remove the folder to start from the sample posts"
                ) from None
        if whole < len(content):
            self._file.truncate(whole)

    def append(self, line: dict[str, Any]) -> None:
        """Raises OSError when the disk is full, ValueError after `close`: the change has not happened then."""
        if self._file is not None:
            self._file.write(json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
