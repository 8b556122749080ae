"""Wikipedia, or any MediaWiki with the TextExtracts extension, as a source."""

from __future__ import annotations

from urllib.parse import urlsplit

from clients.outbound import Outbound
from clients.web_passage import json_object, records, web_passage, words
from forum.types import Passage


class WikipediaSource:
    """The introductions of the best pages. Raises RemoteUnavailable or RemoteRefused."""

    name = "wikipedia"

    def __init__(self, url: str, *, max_bytes: int) -> None:
        self._outbound = Outbound(self.name, url, max_bytes=max_bytes)
        parts = urlsplit(url)
        self._site = f"{parts.scheme}://{parts.netloc}"

    def search(self, text: str, *, limit: int, timeout_s: float) -> list[Passage]:
        params = {
            "action": "query",
            "format": "json",
            "formatversion": "2",
            "generator": "search",
            "gsrsearch": text[:300],
            "gsrlimit": str(limit),
            "prop": "extracts",
            "exintro": "1",
            "explaintext": "1",
            "exlimit": "max",
        }
        data = json_object(self._outbound.get(params, kinds=("application/json",), timeout_s=timeout_s), self.name)
        query = data.get("query")
        pages = records(query.get("pages") if isinstance(query, dict) else None)
        pages.sort(key=lambda page: page["index"] if isinstance(page.get("index"), int) else limit)
        found = [
            web_passage(
                self.name,
                title=words(page.get("title")),
                text=words(page.get("extract")),
                url=f"{self._site}/?curid={page['pageid']}",
                own=True,
            )
            for page in pages
            if isinstance(page.get("pageid"), int)
        ]
        return [one for one in found if one][:limit]
