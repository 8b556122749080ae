"""The bot's tools that follow the config: a changed section builds its clients anew, a wrong one keeps the old."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from bot.composition import build_tools
from bot.tools import Tools
from clients.postgres.pool import Database
from forum.config import Config
from forum.errors import RemoteError, ThreadciteError
from forum.zones import BUILT_IN, thresholds_for

log = structlog.get_logger("threadcite.tools")


@dataclass(frozen=True, kw_only=True, slots=True)
class Equipped:
    """Tools with the config that they belong to."""

    tools: Tools
    config: Config
    #: Why the tools are not those of the newest config; "" when they are.
    problem: str = ""


class LiveTools:
    """Call it for the tools of the config in force. Raises what `build_tools` raises, the first time only.

    The embedder stays: its vectors are the index. Another one is a new index beside the old, and a restart.
    """

    def __init__(
        self,
        config: Callable[[], Config],
        database: Database,
        *,
        build: Callable[[Config, Database], Tools] = build_tools,
    ) -> None:
        self._config, self._database, self._build = config, database, build
        self._lock = threading.Lock()
        self._now: Equipped | None = None
        self._tried: Config | None = None

    def __call__(self) -> Equipped:
        wanted = self._config()
        with self._lock:
            if self._now is None:
                tools = self._build(wanted, self._database)
                _check_zones(tools, wanted)
                self._now = Equipped(tools=tools, config=wanted)
            elif wanted is not self._tried:
                self._now = self._refit(self._now, wanted)
            self._tried = wanted
            return self._now

    def _refit(self, now: Equipped, wanted: Config) -> Equipped:
        """The old tools where nothing of theirs changed; new ones around the old embedder; the old, with a reason."""
        config = wanted.model_copy(update={"embedder": now.config.embedder})
        same = _models(config) == _models(now.config) and not now.problem
        try:
            tools = now.tools if same else self._build(config, self._database)
            _check_zones(tools, config)
        except ThreadciteError as error:
            log.error("models_not_changed", reason=str(error))
            names = ("reranker", "llm", "recall", "flags")
            kept = {name: getattr(now.config, name) for name in names}
            return Equipped(tools=now.tools, config=config.model_copy(update=kept), problem=str(error))
        return Equipped(tools=tools, config=config)


def _check_zones(tools: Tools, config: Config) -> None:
    """Raises ModelMismatch when the zones are on and nobody measured where they begin with this reranker."""
    if config.flags.rerank and config.flags.zones:
        try:
            model = tools.reranker.model_id
        except RemoteError:
            # It is asked which model it has, and does not answer now.
            return
        thresholds_for(model, (*config.reranker.zones, *BUILT_IN))


def _models(config: Config) -> tuple[object, ...]:
    return config.reranker, config.llm, config.recall.query_terms, config.collections, config.external
