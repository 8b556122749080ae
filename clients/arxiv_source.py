"""arXiv's Atom API as a source: abstracts, cited by the paper's page."""

from __future__ import annotations

import re
from datetime import datetime
from xml.etree import ElementTree

from clients.outbound import Outbound
from clients.web_passage import web_passage
from forum.errors import RemoteRefused
from forum.types import Passage

_ATOM = "{http://www.w3.org/2005/Atom}"
_ID = re.compile(r"/abs/([a-z\-.]*/?[0-9.]{5,12})(?:v\d+)?$", re.IGNORECASE)
_WORD = re.compile(r"\w[\w-]+")


class ArxivSource:
    """Raises RemoteUnavailable or RemoteRefused."""

    name = "arxiv"

    def __init__(self, url: str, *, max_bytes: int) -> None:
        self._outbound = Outbound(self.name, url, max_bytes=max_bytes)

    def search(self, text: str, *, limit: int, timeout_s: float) -> list[Passage]:
        asked = " OR ".join(f"all:{word}" for word in _WORD.findall(text)[:12])
        if not asked:
            return []
        params = {"search_query": asked, "max_results": str(limit), "sortBy": "relevance"}
        kinds = ("application/atom+xml", "application/xml", "text/xml")
        body = self._outbound.get(params, kinds=kinds, timeout_s=timeout_s)
        if b"<!DOCTYPE" in body.upper() or b"<!ENTITY" in body.upper():
            raise RemoteRefused("arxiv answers XML with declarations of its own.", service=self.name)
        try:
            feed = ElementTree.fromstring(body)  # noqa: S314 - no declarations, bounded in size
        except ElementTree.ParseError as error:
            raise RemoteRefused("arxiv answers something that is no Atom feed.", service=self.name) from error
        found = [self._passage(entry) for entry in feed.iter(f"{_ATOM}entry")]
        return [one for one in found if one][:limit]

    def _passage(self, entry: ElementTree.Element) -> Passage | None:
        paper = _ID.search(entry.findtext(f"{_ATOM}id") or "")
        if paper is None:
            return None
        return web_passage(
            self.name,
            title=" ".join((entry.findtext(f"{_ATOM}title") or "").split()),
            text=" ".join((entry.findtext(f"{_ATOM}summary") or "").split()),
            url=f"https://arxiv.org/abs/{paper.group(1)}",
            at=_date(entry.findtext(f"{_ATOM}published")),
        )


def _date(value: str | None) -> datetime | None:
    try:
        at = datetime.fromisoformat((value or "").strip())
    except ValueError:
        return None
    return at if at.tzinfo else None
