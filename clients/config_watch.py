"""The config of a file that is read again while the process runs; what cannot be right never replaces what was."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import structlog

from clients.config_file import config_path, load_config, parse_config
from forum.config import Config
from forum.config_keys import changes, flat, waits_for_start
from forum.errors import ConfigError

#: Two looks that agree: a change is in force within some 1.5 s.
_LOOK_S = 0.5
_LARGEST = 1_000_000

log = structlog.get_logger("threadcite.config")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """The config in force, and what is wrong with the file as it stands now."""

    config: Config
    #: SHA-256 of the content in force, hexadecimal; "" without a file.
    digest: str = ""
    #: When it came into force here.
    since: datetime
    #: The account that owns the file.
    owner: str = ""
    #: Why the file as it is now is not in force; "" when it is.
    refusal: str = ""


class LiveConfig:
    """Call it for the config that is in force now.

    `watch` begins to look at the file's content twice a second, in this process (again after a fork). Content
    decides, not the time of change: a ConfigMap is swapped with both size and time unchanged. New content counts
    once two looks have found it the same. Empty, cut off, missing or wrong, it is refused: said once in the log,
    told to `tell`, and the old config stays.

    Raises ConfigError when the first reading is wrong. `tell` may raise: it is told again at the next look.
    """

    def __init__(self, path: Path | None = None, *, tell: Callable[[Reading], None] | None = None) -> None:
        self._path = path or config_path()
        content = _read(self._path)
        config = load_config(path) if content is None else parse_config(content, where=str(self._path))
        self._content = content
        self.reading = Reading(
            config=config, digest=_digest(content), since=datetime.now(UTC), owner=_owner(self._path)
        )
        #: Told of each new reading, after the first look; may be given later.
        self.tell = tell
        self._told: Reading | None = None
        self._last: bytes | None = content
        self._judged: bytes | None = content
        self._pid = 0

    def __call__(self) -> Config:
        return self.reading.config

    def watch(self) -> None:
        """Look at the file from now on, from a thread of this process; a second call does nothing."""
        if self._pid != os.getpid():
            self._pid = os.getpid()
            threading.Thread(target=self._keep_looking, name="config", daemon=True).start()

    def look(self) -> Reading:
        """One look at the file; the second that finds the same new content puts it into force or refuses it."""
        content = _read(self._path)
        settled, self._last = content == self._last, content
        if settled and content != self._judged:
            self._judged = content
            self._judge(content)
        self._tell_once()
        return self.reading

    def _judge(self, content: bytes | None) -> None:
        try:
            if content is None:
                raise ConfigError(f"{self._path}: is gone.")
            _whole(content, self._content, self._path)
            config = parse_config(content, where=str(self._path))
        except ConfigError as error:
            self.reading = replace(self.reading, refusal=str(error))
            log.error("config_refused", reason=str(error), kept_since=self.reading.since.isoformat())
            return
        differences = changes(flat(self.reading.config), flat(config))
        back = content == self._content
        self._content = content
        if back or not differences:
            self.reading = replace(self.reading, digest=_digest(content), refusal="")
        else:
            self.reading = Reading(
                config=config, digest=_digest(content), since=datetime.now(UTC), owner=_owner(self._path)
            )
        waiting = [key for key in differences if waits_for_start(key)]
        changed = {key: list(pair) for key, pair in differences.items()}
        log.info("config_in_force", changed=changed, waits_for_restart=waiting)

    def _tell_once(self) -> None:
        reading = self.reading
        if self.tell is None or reading is self._told:
            return
        try:
            self.tell(reading)
        except Exception as error:
            log.warning("config_change_not_recorded", error=str(error))
        else:
            self._told = reading

    def _keep_looking(self) -> None:
        while True:
            try:
                self.look()
            except Exception:
                log.exception("config_watch_failed")
            time.sleep(_LOOK_S)


def _read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            return file.read(_LARGEST + 1)
    except OSError:
        return None


def _whole(content: bytes, in_force: bytes | None, path: Path) -> None:
    """Raises ConfigError for what looks cut off: YAML cut at a line's end would be valid, and mean defaults."""
    if len(content) > _LARGEST:
        raise ConfigError(f"{path}: over {_LARGEST} bytes.")
    if not in_force:
        return
    if len(content) < len(in_force) and in_force.startswith(content):
        raise ConfigError(f"{path}: is the beginning of the file in force, so it is only half written.")
    if in_force.endswith(b"\n") and not content.endswith(b"\n"):
        raise ConfigError(f"{path}: does not end with a line break, so it is only half written. Add one if it is not.")


def _digest(content: bytes | None) -> str:
    return "" if content is None else hashlib.sha256(content).hexdigest()


def _owner(path: Path) -> str:
    try:
        return path.owner()
    except (OSError, KeyError, NotImplementedError):
        # No such file, or an account without a name (a container's).
        try:
            return f"uid {path.stat().st_uid}"
        except OSError:
            return ""
