"""Gaps, complaints, weekly reports and shadow answers: the rows behind the feedback loop."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, TypeAlias

from psycopg.types.json import Jsonb

from clients.postgres.pool import Database
from clients.postgres.queries import queries
from clients.postgres.statements import Statements

Row: TypeAlias = dict[str, Any]


class GapStore:
    """Each method is one statement of sql/queries/gaps.sql. Raises DatabaseUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = queries("gaps")
        statements = Statements(database, "gaps")
        self._all, self._run = statements.all, statements.run

    def ungrouped(self) -> list[Row]:
        return self._all("ungrouped")

    def members(self) -> list[Row]:
        """gap_id, question and title of what stands in gaps that may grow."""
        return self._all("members")

    def put(self, post_id: int, gap_id: int | None) -> int:
        """Add a question to a gap, or to a new one; the gap's id."""
        with self._database.transaction() as connection:
            if gap_id is None:
                row = connection.execute(self._sql["open_gap"]).fetchone()
                gap_id = int(row[0]) if row else 0
            connection.execute(self._sql["put"], {"post_id": post_id, "gap_id": gap_id})
        return gap_id

    def tidy(self, *, bot: str) -> list[int]:
        """Drop what was answered after all; close what a person's accepted answer closes, and return those gaps."""
        with self._database.transaction() as connection:
            connection.execute(self._sql["leave_answered"])
            connection.execute(self._sql["drop_empty"])
            return [row[0] for row in connection.execute(self._sql["close_answered"], {"bot": bot})]

    def complaints_to_judge(self) -> list[Row]:
        """Direct replies to replies of ours: question, reply_post_id, about, user_id."""
        return self._all("complaints_to_judge")

    def complain(self, reply: Row) -> None:
        self._run("complain", **{key: reply[key] for key in ("reply_post_id", "about", "user_id")})

    def begin_digest(self, week: date) -> bool:
        """Whether this week's report is ours to write."""
        return bool(self._all("digest_begun", week=week))

    def end_digest(self, week: date, topic_id: int | None) -> None:
        """It stands in this topic; None: it certainly does not, and may be tried again."""
        if topic_id is None:
            self._run("digest_undone", week=week)
        else:
            self._run("digest_done", week=week, topic_id=topic_id)

    def week(self, since: datetime) -> tuple[dict[str, int], dict[str, int], list[Row]]:
        """Asks by state, feedback by kind, and the disliked replies."""
        states = {row["state"]: row["count"] for row in self._all("week_states", since=since)}
        kinds = {row["kind"]: row["count"] for row in self._all("week_feedback", since=since)}
        return states, kinds, self._all("week_disliked", since=since)

    def shadow_due(self, share: float) -> list[Row]:
        """Rows of `ask` that a share of the questions draws and that have no shadow yet."""
        return self._all("shadow_due", share=share)

    def put_shadow(self, *, post_id: int, live: str, trace: str, flags: Mapping[str, bool]) -> None:
        self._run("put_shadow", post_id=post_id, live=live, trace=trace, flags=Jsonb(dict(flags)))

    def shadow_pairs(self, *, days: int) -> list[Row]:
        return self._all("shadow_pairs", days=days)

    def feedback_rows(self, *, days: int) -> list[Row]:
        return self._all("feedback_rows", days=days)
