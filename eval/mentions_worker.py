"""A worker for `eval bench mentions`: real lanes and ledger, a forum that keeps nothing, answers at once."""

from __future__ import annotations

import threading
import uuid

from bot.worker import run_worker
from clients.composition import build_embedder, database_url
from clients.config_file import load_config
from clients.fakes.discourse import AgreeableForum
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Database
from forum.types import Answer, Evaluation, Question, Route, Zone


def at_once(question: Question) -> Answer:
    """As long as a usual answer, and as quick as nothing."""
    return Answer(
        text=f"The rain gauge tips like this ({question.post_id}). " + "It tips and tips. " * 60,
        zone=Zone.OK,
        route=Route.ANSWERED,
        language="en",
        evaluation=Evaluation(has_answer=True, confidence=1.0, reason="benchmark"),
        trace_id=uuid.uuid4().hex,
    )


def main() -> None:
    config = load_config()
    with Database(database_url(), max_size=16) as database:
        ingest = Ingest(database, build_embedder(config.embedder), config)
        run_worker(database, AgreeableForum(), ingest, at_once, lambda: config, stop=threading.Event())


if __name__ == "__main__":
    main()
