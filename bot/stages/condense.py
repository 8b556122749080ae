"""Stage condense: in a follow-up, the question rewritten so that it stands alone."""

from __future__ import annotations

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
    base = {
        "question": question,
        "language": asked.language,
        "title": question.title,
        "sub_questions": triaged.sub_questions,
        "kind": triaged.kind,
    }
    if not question.conversation or not config.flags.condense_query:
        decision = "as asked" if config.flags.condense_query else "off"
        return Query(decision=decision, text=question.text, **base)
    earlier = [turn.text for turn in question.conversation if not turn.is_bot]
    joined = "\n".join([question.text, *earlier[-1:]])
    if tools.chat is None:
        return Query(decision="joined", reason="no LLM: the earlier question is added", text=joined, **base)
    asked_for = prompt("condense", language=asked.language, question=question)
    try:
        reply = tools.chat.chat(
            [Message(role="user", content=asked_for)], timeout_s=config.triage.timeout_s, max_tokens=200
        )
    except RemoteError as error:
        return Query(decision="joined", reason=f"LLM: {error}", text=joined, degraded=("llm",), **base)
    alone = one_line(reply.text, _MAX)
    if not alone:
        return Query(decision="joined", reason="the LLM wrote nothing", text=joined, **base)
    return Query(decision="condensed", text=alone, data={"standalone": alone}, **base)
