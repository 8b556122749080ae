"""What the admin pages read, each method one statement of sql/queries/pages.sql."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeAlias

from clients.postgres.pool import Database
from clients.postgres.statements import Statements

Row: TypeAlias = dict[str, Any]
#: Where a page ended: the time and the id of its last row.
Place: TypeAlias = tuple[datetime, str]


class PageStore:
    """Rows as dictionaries, named as in the query. Raises DatabaseUnavailable."""

    def __init__(self, database: Database) -> None:
        statements = Statements(database, "pages")
        self._all, self._run = statements.all, statements.run

    def by_zone_and_route(self, *, days: int) -> list[Row]:
        """at, zone, route, n; by the hour within two days, else by the day."""
        return self._all("by_zone_and_route", days=days, step=_step(days))

    def by_part(self, *, days: int) -> list[Row]:
        """at, series (the part that was down), n."""
        return self._all("by_part", days=days, step=_step(days))

    def failed(self, *, days: int, limit: int) -> list[Row]:
        """The newest questions whose reply could not be posted, with the reason."""
        return self._all("failed", days=days, limit=limit)

    def stages(self, *, days: int) -> list[Row]:
        """stage, n, p50 and p95 in milliseconds over the newest 500 answers."""
        return self._all("stages", days=days)

    def answers(
        self,
        *,
        zone: str | None,
        route: str | None,
        words: str | None,
        after: Place | None,
        limit: int,
        state: str | None = None,
    ) -> list[Row]:
        """Newest first; of one state by when the questions came in (came_at, post_id), which is then the place."""
        at, last = after or (None, None)
        if state is None:
            return self._all("answers", zone=zone, route=route, words=words, at=at, id=last, limit=limit)
        post_id = int(last) if last and last.isdecimal() else 0
        values = {"zone": zone, "route": route, "words": words, "at": at, "id": post_id, "limit": limit}
        return self._all("answers_of_state", state=state, **values)

    def answer(self, trace_id: str) -> Row | None:
        rows = self._all("answer", id=trace_id)
        return rows[0] if rows else None

    def shadows(self, trace_id: str) -> list[Row]:
        """live_trace_id, trace_id and flags of the pairs that a trace belongs to."""
        return self._all("shadows", id=trace_id)

    def drafts(self, *, after: Place | None, limit: int) -> list[Row]:
        at, last = after or (None, None)
        return self._all("drafts", at=at, id=int(last) if last else None, limit=limit)

    def backfills(self) -> list[Row]:
        return self._all("backfills")

    def models(self) -> list[Row]:
        return self._all("models")

    def set_aside(self) -> list[Row]:
        return self._all("set_aside")

    def gaps(self, *, state: str, limit: int) -> list[Row]:
        return self._all("gaps", state=state, limit=limit)

    def gap_questions(self, gap_ids: Sequence[int]) -> list[Row]:
        return self._all("gap_questions", ids=list(gap_ids))

    def answered_since(self, gap_ids: Sequence[int], *, bot: str) -> list[Row]:
        """By gap: where a person has answered since; `accepted` when it is the topic's accepted answer."""
        return self._all("answered_since", ids=list(gap_ids), bot=bot)

    def set_gap(self, gap_id: int, state: str) -> None:
        """open, closed or ignored."""
        self._run("set_gap", id=gap_id, state=state)


def _step(days: int) -> int:
    return 3600 if days <= 2 else 86_400
