"""Which other topics of the same forum a post links to: what experts keep linking is the forum's own FAQ."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

#: A link or a quote of another topic; cheap, so that a post without one costs nothing.
_HREF = re.compile(r"""\bhref\s*=\s*["']([^"'\s]{1,2000})["']""", re.IGNORECASE)
_QUOTED_TOPIC = re.compile(r"""<aside[^>]{0,500}\bdata-topic\s*=\s*["'](\d{1,18})["']""", re.IGNORECASE)
_PATH = re.compile(r"/t/(?:(\d{1,18})|[^/]{1,500}/(\d{1,18}))(?:/|$)")
_TOPIC_LINK_HOST = re.compile(r"https?://([^/\s\"'<>]{1,253})(?:/[^/\s\"'<>]{1,100})?/t/[^/\s\"'<>]+/\d")


def topic_links(cooked: str, topic_id: int, host: str | None) -> frozenset[int]:
    """Ids of other topics that the cooked HTML links to or quotes from.

    `host` is the forum's own (`forum.example`, with a port where it has one); a relative link is always the forum's.
    """
    found: set[int] = set()
    if "/t/" in cooked:
        for href in _HREF.findall(cooked):
            if (linked := linked_topic(href, host)) is not None:
                found.add(linked)
    if "data-topic" in cooked:
        found.update(int(one) for one in _QUOTED_TOPIC.findall(cooked))
    found.discard(topic_id)
    return frozenset(found)


def linked_topic(href: str, host: str | None) -> int | None:
    """The topic that a URL of this forum names: `/t/slug/id[/n]`, `/t/id[/n]`; None for any other URL."""
    if "/t/" not in href:
        return None
    try:
        parts = urlsplit(href)
    except ValueError:
        return None
    if parts.netloc and (host is None or parts.netloc.casefold() != host.casefold()):
        return None
    if not parts.netloc and parts.scheme:
        return None
    match = _PATH.search(parts.path)
    return int(match.group(1) or match.group(2)) if match else None


def hosts_of_topic_links(text: str) -> list[str]:
    """Every host that a topic link in the text names, once a link."""
    return _TOPIC_LINK_HOST.findall(text)
