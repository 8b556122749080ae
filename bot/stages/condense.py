"""Stage condense: in a follow-up, the question rewritten so that it stands alone."""

from __future__ import annotations

from dataclasses import replace

from bot.prompts.prompts import prompt
from bot.stages.results import Asked, Query, Triaged
from bot.tools import Tools
from forum.config import Config
from forum.errors import RemoteError
from forum.ports import Message
from forum.unicode_safety import one_line

_MAX = 600


def condense(asked: Asked, triaged: Triaged, tools: Tools, config: Config) -> Query:
    """The text to look for. Without an LLM a follow-up takes its author's earlier question along."""
    question = asked.question
    query = Query(
        decision="as asked",
        question=question,
        language=asked.language,
        text=question.text,
        title=question.title,
        sub_questions=triaged.sub_questions,
        kind=triaged.kind,
    )
    if not config.flags.condense_query:
        return replace(query, decision="off")
    if not question.conversation:
        return query
    earlier = [turn.text for turn in question.conversation if not turn.is_bot]
    joined = replace(query, decision="joined", text="\n".join([question.text, *earlier[-1:]]))
    if tools.chat is None:
        return replace(joined, reason="no LLM: the earlier question is added")
    asked_for = prompt("condense", language=asked.language, question=question)
    try:
        reply = tools.chat.chat(
            [Message(role="user", content=asked_for)], timeout_s=config.triage.timeout_s, max_tokens=200
        )
    except RemoteError as error:
        return replace(joined, reason=f"LLM: {error}", degraded=("llm",))
    alone = one_line(reply.text, _MAX)
    if not alone:
        return replace(joined, reason="the LLM wrote nothing")
    return replace(query, decision="condensed", text=alone, data={"standalone": alone})
