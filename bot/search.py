"""Search without an answer: what the recall and rerank stages find for a text, as the answer would see it."""

from __future__ import annotations

from dataclasses import dataclass

from bot.stages.aggregate import best_by_topic
from bot.stages.read import read
from bot.stages.recall import recall
from bot.stages.render import passage_url
from bot.stages.rerank import excerpted, rerank
from bot.stages.results import Query
from bot.tools import Tools
from forum.config import Config
from forum.types import Candidate, Question


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A passage with the address where everyone can read it."""

    candidate: Candidate
    url: str


def search(question: Question, tools: Tools, config: Config, *, limit: int) -> list[Found]:
    """The best passages of at most `limit` topics and documents, best first; the persona's knowledge only.

    Nothing for a text without letters. Raises DatabaseUnavailable, ModelMismatch.
    """
    asked = read(question, config)
    if asked.reply:
        return []
    query = Query(
        decision="search",
        question=asked.question,
        language=asked.language,
        text=asked.question.text,
        title=asked.question.title,
    )
    ranked = rerank(query, recall(query, tools, config), tools, config)
    best = excerpted(query, best_by_topic(ranked.candidates)[:limit], config)
    return [Found(candidate=one, url=passage_url(one.passage, config)) for one in best]
