"""How long a throttled answer asks us to wait, whatever form it takes."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx


def retry_after_s(response: httpx.Response, *, ceiling_s: float, now: datetime | None = None) -> float | None:
    """Seconds to wait, at least 1 and at most `ceiling_s`; None where the answer does not say.

    Retry-After is seconds or an HTTP date (RFC 9110, 10.2.3); Discourse's JSON adds `extras.wait_seconds`.
    """
    wished = _header(response.headers.get("retry-after"), now or datetime.now(UTC))
    if wished is None:
        wished = _body(response)
    return None if wished is None else min(max(wished, 1.0), ceiling_s)


def _header(value: str | None, now: datetime) -> float | None:
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = parsedate_to_datetime(value)
        except ValueError:
            return None
        return ((date if date.tzinfo else date.replace(tzinfo=UTC)) - now).total_seconds()
    return seconds if seconds == seconds else None  # "nan" is a float too


def _body(response: httpx.Response) -> float | None:
    try:
        data = response.json()
    except (ValueError, RecursionError):
        return None
    extras = data.get("extras") if isinstance(data, dict) else None
    seconds = extras.get("wait_seconds") if isinstance(extras, dict) else None
    return float(seconds) if isinstance(seconds, (int, float)) and not isinstance(seconds, bool) else None
