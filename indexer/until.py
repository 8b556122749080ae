"""A source without the posts that were written on or after a day: the forum as an eval looks back at it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from forum.ports import PostSource
from forum.types import Category, SourcePost, Topic


class Until:
    """Passes on the posts of `source` that were created before `end`; its name tells them apart."""

    def __init__(self, source: PostSource, end: datetime) -> None:
        self._source, self._end = source, end
        self.declared_public = source.declared_public
        self.complete_topics = source.complete_topics
        self.observes = source.observes

    @property
    def skipped(self) -> Counter[str]:
        return self._source.skipped

    @skipped.setter
    def skipped(self, value: Counter[str]) -> None:
        self._source.skipped = value

    @property
    def name(self) -> str:
        return f"{self._source.name} until {self._end.isoformat()}"

    def total(self) -> int | None:
        return None

    def categories(self) -> Sequence[Category]:
        return self._source.categories()

    def topics(self) -> Iterable[Topic]:
        return self._source.topics()

    def posts(self, *, after: str | None = None) -> Iterator[tuple[SourcePost, str]]:
        for post, cursor in self._source.posts(after=after):
            if post.post.created_at < self._end:
                yield post, cursor
