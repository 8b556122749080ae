"""A config as dotted keys and values, to compare two of them and to show one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from forum.config import Config

#: Read once, when a process starts: a change waits for its next start.
AT_START = (
    "forum.base_url",
    "forum.bot_username",
    "forum.requests_per_minute",
    "forum.timeout_s",
    "forum.retry_after_ceiling_s",
    "embedder.",
    "webhook.threads",
    "webhook.max_body_bytes",
    "webhook.database_timeout_s",
    "bot.llm_concurrency",
    "api.concurrency",
    "api.waiting",
    "indexer.poll_s",
    "metrics.",
    "logging.",
)
#: Named by the operator, so not keys of ours.
_WHOLE = ("collections", "personas")
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")


def flat(config: Config) -> dict[str, Any]:
    """Every key of the config, dotted, with its value as JSON; credentials in an address are masked."""
    return dict(_leaves("", config.model_dump(mode="json")))


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What differs: key -> (before, after); a key that one side lacks is None there."""
    keys = [*after, *(key for key in before if key not in after)]
    return {key: (before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)}


def waits_for_start(key: str) -> bool:
    """Whether a change of this key takes effect only when the process starts again."""
    return key.startswith(AT_START)


def _leaves(prefix: str, value: Any) -> list[tuple[str, Any]]:
    # A mapping one level below a section is a value (limits of trust levels, flags of the shadow).
    if (
        isinstance(value, dict)
        and prefix not in _WHOLE
        and (not prefix or prefix.count(".") < 1 or prefix == "bot.limits")
    ):
        return [leaf for name, item in value.items() for leaf in _leaves(f"{prefix}.{name}" if prefix else name, item)]
    if isinstance(value, str):
        value = _CREDENTIALS.sub("***@", value)
    return [(prefix, value)]
