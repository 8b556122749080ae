"""The web through a SearXNG instance of the operator's; the pages that it names are cited, never fetched."""

from __future__ import annotations

from clients.outbound import Outbound
from clients.web_passage import json_object, records, web_passage, words
from forum.types import Passage


class SearxngSource:
    """Title, address and snippet of each result. Raises RemoteUnavailable or RemoteRefused."""

    name = "searxng"

    def __init__(self, url: str, *, max_bytes: int) -> None:
        self._outbound = Outbound(self.name, url, max_bytes=max_bytes)

    def search(self, text: str, *, limit: int, timeout_s: float) -> list[Passage]:
        params = {"q": text[:300], "format": "json"}
        data = json_object(self._outbound.get(params, kinds=("application/json",), timeout_s=timeout_s), self.name)
        found = [
            web_passage(
                self.name, title=words(one.get("title")), text=words(one.get("content")), url=words(one.get("url"))
            )
            for one in records(data.get("results"))[: 4 * limit]
        ]
        return [one for one in found if one][:limit]
