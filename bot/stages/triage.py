"""Stage triage: chitchat and abuse get a fixed reply; a question is simple, or complex with sub-questions."""

from __future__ import annotations

import re

from bot.gate.triage_rules import chitchat_reply, triage0
from bot.prompts.prompts import prompt
from bot.stages.results import Asked, Triaged
from bot.tools import Tools
from forum.config import Config
from forum.errors import RemoteError
from forum.ports import Message
from forum.unicode_safety import one_line

_KIND = re.compile(r"^\s*KIND\s*:\s*(chitchat|unsafe|simple|complex)\s*$", re.IGNORECASE | re.MULTILINE)
_SUB = re.compile(r"^\s*SUB\s*:\s*(\S.*)$", re.IGNORECASE | re.MULTILINE)


def triage(asked: Asked, tools: Tools, config: Config) -> Triaged:
    """Tier 0 by rules; tier 1 by one short LLM call, where there is an LLM."""
    if not config.flags.triage:
        return Triaged(decision="off", kind="simple")
    if kind := triage0(asked.question.text, asked.language):
        reply = chitchat_reply(kind, asked.language)
        return Triaged(decision=kind, reason="rule", kind="chitchat", reply=reply)
    if tools.chat is None or not config.triage.llm:
        return Triaged(decision="simple", reason="no LLM: rules only")
    message = Message(role="user", content=prompt("triage", language=asked.language, question=asked.question))
    try:
        reply = tools.chat.chat([message], timeout_s=config.triage.timeout_s, max_tokens=150).text
    except RemoteError as error:
        return Triaged(decision="complex", reason=f"LLM: {error}", kind="complex", degraded=("llm",))
    found = _KIND.search(reply)
    if not found:
        return Triaged(decision="complex", reason="the LLM's answer has no KIND line", kind="complex")
    kind = found.group(1).lower()
    if kind in ("chitchat", "unsafe"):
        return Triaged(decision=kind, reason="LLM", kind=kind, reply=chitchat_reply(kind, asked.language))
    subs = tuple(one_line(sub, 300) for sub in _SUB.findall(reply)) if kind == "complex" else ()
    return Triaged(decision=kind, reason="LLM", kind=kind, sub_questions=subs[: config.triage.sub_questions])
