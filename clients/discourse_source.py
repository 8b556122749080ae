"""Posts of a running forum through its API, newest first, at the pace that it allows."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from clients.discourse import DiscourseClient
from forum.config import Config
from forum.errors import RemoteRefused, RemoteUnavailable, SourceError
from forum.types import Category, SourcePost, Topic

#: Old Discourse answers with the visible posts of a window of 50 ids, new Discourse with the 50 next visible posts.
_WINDOW = 50
#: How often in a row the forum may fail before the run stops (it goes on from there); before its first answer less
#: often: then its address is wrong or it is down.
_PATIENCE, _PATIENCE_AT_FIRST = 8, 3
_LONGEST_PAUSE_S = 900.0

T = TypeVar("T")


class DiscourseSource:
    """What the key's user can see; without a key, what everyone can. A cursor is the id of the last post read.

    `on_wait` hears why and how long it waits. Raises SourceError when the forum refuses or stays away.
    """

    declared_public = False
    complete_topics = False
    observes = True

    def __init__(
        self,
        client: DiscourseClient,
        config: Config,
        *,
        on_wait: Callable[[str], None] = lambda _: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client, self._config, self._on_wait, self._sleep = client, config, on_wait, sleep
        self._answered = False
        self.skipped: Counter[str] = Counter()

    @property
    def name(self) -> str:
        return f"discourse:{self._config.forum.base_url}"

    def total(self) -> int | None:
        return None

    def categories(self) -> Sequence[Category]:
        opened = self._config.indexer.opened_category_ids
        return self._patiently(lambda: self._client.categories(opened=opened))

    def topics(self) -> Iterator[Topic]:
        page, more = 0, True
        while more:
            topics, more = self._patiently(lambda page=page: self._client.topic_list(page))  # type: ignore[misc]
            yield from topics
            page += 1

    def posts(self, *, after: str | None = None) -> Iterator[tuple[SourcePost, str]]:
        before = int(after) if after and after.isdigit() else None
        windows = True
        while before is None or before > 1:
            page = self._patiently(lambda before=before: self._client.latest_posts(before))  # type: ignore[misc]
            page.sort(key=lambda one: -one.post.id)
            if before is not None and page and page[-1].post.id < before - _WINDOW:
                windows = False
            if not page and (before is None or not windows):
                return
            for one in page:
                yield one, str(one.post.id)
            before = page[-1].post.id if page else (before or 0) - _WINDOW

    def _patiently(self, read: Callable[[], T]) -> T:
        patience = _PATIENCE if self._answered else _PATIENCE_AT_FIRST
        first: RemoteUnavailable | None = None
        for failed in range(1, patience + 1):
            try:
                answer = read()
            except RemoteUnavailable as error:
                # Later ones may be our own breaker's, which does not say what is wrong.
                first = first or error
                if failed == patience:
                    raise SourceError(
                        f"{first} It failed {failed} times in a row. Check forum.base_url and that the forum runs, then"
                        " run the command again: it goes on from here."
                    ) from error
                wait = error.retry_after_s if error.retry_after_s is not None else 2.0**failed
                wait = min(max(wait, 1.0), _LONGEST_PAUSE_S)
                self._on_wait(f"{first} Try {failed} of {patience}, the next in {wait:.0f} s.")
                self._sleep(wait)
            except RemoteRefused as error:
                raise SourceError(f"{self._config.forum.base_url}: {error}") from error
            else:
                self._answered = True
                return answer
        raise AssertionError("unreachable")  # pragma: no cover
