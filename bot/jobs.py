"""The jobs that the web process leaves to the worker: their names, lanes, locks and order."""

from __future__ import annotations

from clients.postgres.queue import Job, Lane
from clients.postgres.withdraw import CORRECTIONS
from forum.config import Config

ANSWERS, SYNC, HOUSE = "answers", "sync", "house"

#: A member with this many waiting questions stands behind everybody else; more makes no difference.
_LAST_TURN = 10_000


def lanes(config: Config) -> tuple[Lane, ...]:
    """Kept apart, so that a storm of mentions leaves the index, the corrections and the upkeep alone."""
    return (
        # Two more than the LLM takes at once: while one answer is made, others are fetched and posted.
        Lane(name=ANSWERS, concurrency=config.bot.llm_concurrency + 2),
        Lane(name=SYNC),
        Lane(name=CORRECTIONS),
        Lane(name=HOUSE),
    )


def answer_job(post_id: int, topic_id: int, turn: int = 0) -> Job:
    """One at a time in a topic. `turn`: how many questions of the member wait already, which puts his next one
    behind as many turns of the others."""
    return Job(
        task="answer",
        lane=ANSWERS,
        args={"post_id": post_id},
        lock=f"topic:{topic_id}",
        key=f"ask:{post_id}",
        priority=-min(turn, _LAST_TURN),
    )


def tidy_job(post_id: int, persona: str) -> Job:
    """A post of ours that nobody needs any more."""
    key = f"tidy:{post_id}"
    return Job(task="tidy", lane=CORRECTIONS, args={"post_id": post_id, "persona": persona}, lock=key, key=key)


def orphan_job(post_id: int) -> Job:
    """The asking post was deleted after the reply."""
    return Job(
        task="orphan", lane=CORRECTIONS, args={"post_id": post_id}, lock=f"correct:{post_id}", key=f"orphan:{post_id}"
    )
