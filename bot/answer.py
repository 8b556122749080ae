"""The product on one screen: a question goes in, the stages run in this order, a cited answer comes out."""

from __future__ import annotations

from bot.calls import watched
from bot.deadline import within
from bot.stages.aggregate import aggregate
from bot.stages.choose import choose
from bot.stages.condense import condense
from bot.stages.corrective import corrective
from bot.stages.external import external
from bot.stages.finish import abridged, finished
from bot.stages.follow import follow
from bot.stages.gate import gate
from bot.stages.generate import generate
from bot.stages.read import read
from bot.stages.recall import recall
from bot.stages.render import render
from bot.stages.rerank import rerank
from bot.stages.triage import triage
from bot.stages.verify import verify
from bot.stages.zone import zone
from bot.tools import Tools
from bot.trace import Tell, Trace, silent
from forum.config import Config
from forum.types import Answer, Question


def answer(question: Question, tools: Tools, config: Config, *, tell: Tell = silent) -> Answer:
    """Answer one question from the forum's public posts.

    `tell` hears of each stage as it ends.
    Never raises for a remote service that is down: the stage falls back and says so in `degraded`.
    Raises DatabaseUnavailable when the index cannot be read.
    """
    trace = Trace(tell)
    tools = watched(within(tools, config.bot.answer_deadline_s), lambda: trace.calls)

    asked = trace.step(read, question, config)
    if asked.reply:
        return abridged(trace, asked, asked)
    gated = trace.step(gate, asked, config)
    if gated.reply:
        return abridged(trace, asked, gated)
    triaged = trace.step(triage, asked, tools, config)
    if triaged.reply:
        return abridged(trace, asked, triaged)

    query = trace.step(condense, asked, triaged, tools, config)
    query = trace.step(choose, query, tools, config)
    recalled = trace.step(recall, query, tools, config)
    recalled = trace.step(external, query, recalled, tools, config)
    reranked = trace.step(rerank, query, recalled, tools, config)
    evidence = trace.step(aggregate, query, reranked, tools, config)
    zoned = trace.step(zone, evidence, config)
    zoned = trace.step(corrective, query, zoned, tools, config)
    zoned = trace.step(follow, query, zoned, tools, config)

    drafted = trace.step(generate, query, zoned, tools, config)
    verified = trace.step(verify, query, drafted, zoned, tools, config)
    rendered = trace.step(render, query, verified, zoned, config)
    return finished(trace, query, zoned, rendered)
