"""Stage generate: a draft with `[[n]]` markers, by the LLM, or by quoting when there is none or it is down."""

from __future__ import annotations

from bot.prompts.prompts import answer_messages
from bot.quote import quote
from bot.stages.results import Drafted, Query, Zoned
from bot.tools import Tools
from forum.config import Config
from forum.errors import RemoteError
from forum.types import Zone


def generate(query: Query, zoned: Zoned, tools: Tools, config: Config) -> Drafted:
    """Write from the evidence. In zone `abstain` nothing is written: the reply is a refusal."""
    if zoned.zone is Zone.ABSTAIN or not zoned.evidence.sources:
        return Drafted(decision="refusal", text="", writer="refusal")
    if tools.chat is None:
        return quote(query, zoned, tools, reason="no LLM is configured")
    messages, dropped = answer_messages(query, zoned, config, context_tokens=tools.chat.context_tokens)
    try:
        reply = tools.chat.chat(
            messages,
            timeout_s=config.llm.timeout_s,
            max_tokens=config.llm.max_tokens,
            temperature=config.llm.temperature,
        )
    except RemoteError as error:
        return quote(query, zoned, tools, reason=f"LLM: {error}", degraded=("llm",))
    if not reply.text.strip():
        return quote(query, zoned, tools, reason="the LLM wrote nothing", degraded=("llm",))
    return Drafted(
        decision="written",
        reason=f"{tools.chat.model_id}, {reply.done_reason}",
        text=reply.text,
        writer="llm",
        data={
            "prompt": [{"role": message.role, "content": message.content} for message in messages],
            "reply": reply.text,
            "prompt_tokens": reply.prompt_tokens,
            "output_tokens": reply.output_tokens,
            "sources_dropped": dropped,
        },
    )
