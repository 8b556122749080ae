"""Runs the product's own `answer` for the evals, with the index, models and writer that the config names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from bot.answer import answer
from bot.composition import build_tools
from bot.prompts.prompts import prompt_digest
from bot.tools import Tools
from clients.fakes.scripted_llm import ExtractiveLLM, ObedientLLM
from clients.postgres.pool import Database
from eval.scratch import open_index
from forum.config import Config
from forum.errors import UsageError
from forum.ports import ChatModel
from forum.types import Answer, Question

WRITERS = ("config", "quote", "extractive", "obedient")


@contextmanager
def answering(posts: str | None, config: Config, writer: str = "config") -> Iterator[tuple[Tools, Database, str]]:
    """Tools over the running index or a scratch one of `posts`, the database, and the digest of what it holds.

    `writer`: config (the LLM of config.yml), quote, or a scripted LLM. Raises UsageError for another one.
    """
    if writer not in WRITERS:
        raise UsageError(f"--writer {writer!r:.40}: is one of {', '.join(WRITERS)}.")
    database, digest = open_index(posts, until=None, config=config)
    with database:
        tools = build_tools(config, database)
        scripted: dict[str, ChatModel | None] = {
            "quote": None,
            "extractive": ExtractiveLLM(),
            "obedient": ObedientLLM(),
        }
        yield (replace(tools, chat=scripted[writer]) if writer in scripted else tools), database, digest


def asked(question: Question, tools: Tools, config: Config) -> Answer:
    """The answer of production; a question without a time is asked now."""
    return answer(question if question.asked_at else replace(question, asked_at=tools.now()), tools, config)


def about(tools: Tools, config: Config, *, posts: str, questions: Path) -> dict[str, Any]:
    """What a result says of how it came about: model, prompts, posts, questions, flags."""
    return {
        "model": tools.chat.model_id if tools.chat else "quote",
        "prompts": prompt_digest(),
        "reranker": tools.reranker.model_id,
        "embedder": tools.embedder.model.name,
        "flags": config.flags.model_dump(),
        "source": posts,
        "questions": {"name": questions.name, "sha256": hashlib.sha256(questions.read_bytes()).hexdigest()},
    }
