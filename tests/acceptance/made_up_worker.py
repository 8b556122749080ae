"""A worker process like `bot work`, but its answers are made up and take a moment: for the tests that kill it."""

from __future__ import annotations

import random
import threading
import time

from bot.worker import run_worker
from clients.composition import build_forum, database_url
from clients.config_file import load_config
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Database
from clients.wordllama_embedder import WordLlamaEmbedder
from forum.types import Answer, Evaluation, Question, Route, Zone


def made_up(question: Question) -> Answer:
    time.sleep(random.uniform(0.05, 0.5))
    return Answer(
        text=f"This is what the forum knows about: {question.text}",
        zone=Zone.OK,
        route=Route.ANSWERED,
        language="en",
        evaluation=Evaluation(has_answer=True, confidence=1.0, reason="made up"),
        trace_id=f"{question.post_id}-{time.time_ns()}",
    )


def main() -> None:
    config = load_config()
    with Database(database_url(), max_size=12) as database:
        ingest = Ingest(database, WordLlamaEmbedder(), config)
        run_worker(database, build_forum(config), ingest, made_up, lambda: config, stop=threading.Event())


if __name__ == "__main__":
    main()
