"""Stage generate: a draft with `[[n]]` markers, by the LLM, or by quoting when there is none or it is down."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.prompts.prompts import NO_ANSWER, Prompt, answer_prompt, prompt
from bot.quote import quote
from bot.stages.results import Drafted, Query, Zoned
from bot.tools import Tools
from forum.config import Config
from forum.errors import PromptCut, RemoteError
from forum.language import detect
from forum.ports import ChatModel, ChatReply, Message
from forum.types import Zone

#: The share of the context that the one shorter try may fill.
_SHORTER = 0.5
#: Where a sentence that the token limit cut off begins: after the last one that is whole.
_WHOLE = re.compile(r"(?s).*(?:[.!?…:](?:\s*\[\[[\d, ]+\]\])*|\]\]|```)(?=\s|$)")


def generate(query: Query, zoned: Zoned, tools: Tools, config: Config) -> Drafted:
    """Write from the evidence. In zone `abstain` nothing is written: the reply is a refusal.

    A prompt that the server cut or found too long is tried once more, shorter; a reply in another language is
    repaired once. What then still fails is quoted instead.
    """
    if zoned.zone is Zone.ABSTAIN or not zoned.evidence.sources:
        return Drafted(decision="refusal", text="", writer="refusal")
    if tools.chat is None:
        return quote(query, zoned, tools, reason="no LLM is configured")
    try:
        written = _written(query, zoned, tools.chat, config)
        if written is None:
            return quote(query, zoned, tools, reason="the question leaves no room for evidence in llm.num_ctx")
        return _drafted(query, zoned, written, tools, tools.chat, config)
    except RemoteError as error:
        return quote(query, zoned, tools, reason=f"LLM: {error}", degraded=("llm",))


@dataclass(frozen=True, slots=True)
class _Written:
    prompt: Prompt
    reply: ChatReply
    #: Why the first try was not enough.
    retried: str = ""


def _written(query: Query, zoned: Zoned, chat: ChatModel, config: Config) -> _Written | None:
    """The LLM's reply; None when nothing fits its context. Raises RemoteError."""
    whole = answer_prompt(query, zoned, config, context_tokens=chat.context_tokens)
    if whole is None:
        return None
    try:
        return _Written(whole, _ask(whole.messages, chat, config))
    except PromptCut as error:
        shorter = answer_prompt(query, zoned, config, context_tokens=chat.context_tokens, shorter=_SHORTER)
        if shorter is None:
            raise
        return _Written(shorter, _ask(shorter.messages, chat, config), retried=str(error))


def _ask(messages: tuple[Message, ...], chat: ChatModel, config: Config) -> ChatReply:
    llm = config.llm
    return chat.chat(messages, timeout_s=llm.timeout_s, max_tokens=llm.max_tokens, temperature=llm.temperature)


def _drafted(query: Query, zoned: Zoned, written: _Written, tools: Tools, chat: ChatModel, config: Config) -> Drafted:
    text = _finished(written.reply)
    data = _told(written)
    if not text:
        return quote(query, zoned, tools, reason="the LLM wrote nothing", degraded=("llm",))
    if _declines(text):
        reason = "the LLM finds no answer in the sources"
        return Drafted(decision="refusal", reason=reason, text="", writer="refusal", data=data)
    decision = "written"
    if wrong := _other_language(text, query, config):
        text = _finished(_ask((*written.prompt.messages, *_repair(text, query)), chat, config))
        decision, data = "repaired", {**data, "repaired_from": wrong, "repaired": text}
        if not text or _other_language(text, query, config):
            return quote(query, zoned, tools, reason=f"the LLM keeps to {wrong}, the question is {query.language}")
    return Drafted(
        decision=decision,
        reason=f"{chat.model_id}, {written.reply.done_reason}"
        + (f"; second try: {written.retried}" if written.retried else ""),
        text=text,
        writer="llm",
        degraded=("prompt",) if written.retried else (),
        data=data,
    )


def _finished(reply: ChatReply) -> str:
    """The text; what the token limit cut in the middle of a sentence goes."""
    text = reply.text.strip()
    if reply.done_reason != "length":
        return text
    whole = _WHOLE.match(text)
    return whole.group().strip() if whole else ""


def _declines(text: str) -> bool:
    """The sentinel, wherever a model puts it, when nothing that is cited stands beside it."""
    return NO_ANSWER in text.replace("\\_", "_").upper().replace("NO ANSWER", NO_ANSWER) and "[[" not in text


def _other_language(text: str, query: Query, config: Config) -> str:
    """The language of the reply when it is surely another one than the question's; else ""."""
    prose = re.sub(r"```.*?(?:```|\Z)|`[^`\n]*`|\[+[\d,; ]+\]+", " ", text, flags=re.DOTALL)
    guess = detect(prose, config.forum.languages, default=query.language)
    return guess.code if guess.confidence and guess.code != query.language else ""


def _repair(text: str, query: Query) -> tuple[Message, Message]:
    return Message(role="assistant", content=text), Message(
        role="user", content=prompt("repair", language=query.language)
    )


def _told(written: _Written) -> Mapping[str, Any]:
    return {
        "prompt": [{"role": message.role, "content": message.content} for message in written.prompt.messages],
        "reply": written.reply.text,
        "prompt_tokens": written.reply.prompt_tokens,
        "estimated_tokens": written.prompt.tokens,
        "output_tokens": written.reply.output_tokens,
        "sources_dropped": written.prompt.dropped,
    }
