"""What a source outside said, as a passage like any other: clean text, a stable id, an address that we built."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from forum.errors import RemoteRefused
from forum.text import clean, excerpt
from forum.types import Passage
from forum.unicode_safety import one_line, safe

_LONGEST = 4000
_LONGEST_URL = 1000


def web_passage(
    source: str, *, title: str, text: str, url: str, at: datetime | None = None, own: bool = False
) -> Passage | None:
    """None when there is no text or no address that may be linked; `own`: we built it on a configured host."""
    address = url if own else public_address(url)
    words = excerpt(safe(clean(f"<p>{text}</p>") if "<" in text else text).strip(), _LONGEST)
    if address is None or not words:
        return None
    digest = hashlib.sha256(f"{address}\n{words}".encode("utf-8", "replace")).hexdigest()
    name = one_line(clean(f"<p>{title}</p>") if "<" in title else title) or address
    return Passage(
        content_id=f"web:{digest}", kind="web", title=name, category=source, text=words, url=address, created_at=at
    )


def public_address(url: str) -> str | None:
    """An http(s) address rebuilt from its parts, every character that Markdown or HTML could act on escaped."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return None
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or "." not in host or parts.username or len(url) > _LONGEST_URL:
        return None
    try:
        name = host.encode("idna").decode("ascii")
    except UnicodeError:
        return None
    place = f"{name}:{port}" if port else name
    kept = "/%:@!$&'*+,;=~-._"
    return urlunsplit((parts.scheme, place, quote(parts.path, safe=kept), quote(parts.query, safe=kept), "")).replace(
        "'", "%27"
    )


def json_object(body: bytes, source: str) -> Mapping[str, Any]:
    """Raises RemoteRefused for what is no JSON object (an HTML page, say)."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise RemoteRefused(f"{source} answers something that is no JSON object.", service=source)
    return data


def records(value: object) -> list[Mapping[str, Any]]:
    """The objects of a list; anything else is none."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def words(value: object) -> str:
    """A text, or "" for anything else."""
    return value if isinstance(value, str) else ""
