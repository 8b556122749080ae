"""Stage condense: in a follow-up, the question rewritten so that it stands alone."""

from __future__ import annotations

import re
from dataclasses import replace

from bot.prompts.prompts import prompt
from bot.stages.results import Asked, Query, Triaged
from bot.tools import Tools
from forum.config import Config
from forum.errors import RemoteError
from forum.ports import ChatModel, Message
from forum.terms import terms
from forum.tokens import estimated_tokens
from forum.types import Question
from forum.unicode_safety import one_line

#: Words that point at what was said before (en, fr).
_POINTS = re.compile(
    r"\b(?:it|its|this|that|these|those|they|them|one|ça|cela|celui|celle|ceux|celles|lui|leur)\b", re.I
)
_MAX = 600
_TOKENS = 200


def condense(asked: Asked, triaged: Triaged, tools: Tools, config: Config) -> Query:
    """The text to look for. Without an LLM a follow-up takes its author's earlier question along."""
    question = asked.question
    query = Query(
        decision="as asked",
        question=question,
        language=asked.language,
        text=question.text,
        title=question.title if _leans_on_title(question) else "",
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
    try:
        reply = tools.chat.chat([_message(asked, tools.chat)], timeout_s=config.triage.timeout_s, max_tokens=_TOKENS)
    except RemoteError as error:
        return replace(joined, reason=f"LLM: {error}", degraded=("llm",))
    alone = one_line(reply.text, _MAX)
    if not alone:
        return replace(joined, reason="the LLM wrote nothing")
    return replace(query, decision="condensed", text=alone, data={"standalone": alone})


def _leans_on_title(question: Question) -> bool:
    """Whether the topic's title belongs to the question: always in its first post, further down only where the
    words alone name too little."""
    return not question.below or len(set(terms(question.text))) < 2 or bool(_POINTS.search(question.text))


def _message(asked: Asked, chat: ChatModel) -> Message:
    """The prompt with as many of the last turns as fit the context; the question itself always stays."""
    question = asked.question
    for first in range(max(0, len(question.conversation) - 6), len(question.conversation) + 1):
        shorter = replace(question, conversation=question.conversation[first:])
        text = prompt("condense", language=asked.language, question=shorter)
        if estimated_tokens(text) <= chat.context_tokens - _TOKENS:
            break
    return Message(role="user", content=text)
