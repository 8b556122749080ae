"""Stage corrective: looks again for what is missing; a flag, and without it costs nothing."""

from __future__ import annotations

from dataclasses import replace

from bot.stages.results import Query, Zoned
from bot.tools import Tools
from forum.config import Config


def corrective(query: Query, zoned: Zoned, tools: Tools, config: Config) -> Zoned:
    """The evidence to answer from, after at most `corrective.retries` further passes."""
    if not config.flags.corrective or tools.chat is None:
        reason = "no LLM to judge the evidence" if config.flags.corrective else ""
        return replace(zoned, decision="off", reason=reason, data={}, degraded=())
    from bot.crag import correct

    return correct(query, zoned, tools, config)
