"""Records what each stage decided, why and how long it took, while an answer is made."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from bot.calls import CallLog
from bot.stages.results import Result
from forum.types import StageRecord

P = ParamSpec("P")
R = TypeVar("R", bound=Result)


Tell = Callable[[StageRecord], None]


def silent(_: StageRecord) -> None:
    """Nobody wants to know while the answer is made."""


class Trace:
    """The records of one run; `step` runs a stage and keeps its decision under the stage's own name.

    `tell` hears of each as it ends.
    """

    def __init__(self, tell: Tell = silent) -> None:
        self._tell = tell
        self.id = uuid.uuid4().hex
        self.records: list[StageRecord] = []
        self.degraded: list[str] = []
        #: What the stage that runs now calls.
        self.calls = CallLog()

    def step(self, stage: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a stage and remember it. What the stage raises goes through."""
        started = time.perf_counter()
        self.calls = CallLog()
        result = stage(*args, **kwargs)
        record = StageRecord(
            stage=stage.__name__,
            decision=result.decision,
            reason=result.reason,
            ms=round((time.perf_counter() - started) * 1000, 3),
            data=result.data,
            calls=self.calls.calls(),
        )
        self.records.append(record)
        self.degraded += [name for name in result.degraded if name not in self.degraded]
        self._tell(record)
        return result

    def timings_ms(self) -> dict[str, float]:
        """Milliseconds by stage, summed over repeated passes, with their `total`."""
        timings: dict[str, float] = {}
        for record in self.records:
            timings[record.stage] = timings.get(record.stage, 0.0) + record.ms
        return {**timings, "total": sum(timings.values())}
