"""Stage choose: for a simple question, which sources outside the forum are worth asking; a flag, off by default."""

from __future__ import annotations

from dataclasses import replace

from bot.prompts.prompts import prompt
from bot.stages.results import Query
from bot.tools import Tools
from forum.config import Config
from forum.errors import RemoteError, RemoteUnavailable
from forum.ports import Message, Tool

_WHAT = {
    "wikipedia": "Articles of an encyclopaedia: general knowledge, terms, people, places, history.",
    "arxiv": "Abstracts of scientific papers: physics, mathematics, computing, statistics.",
    "searxng": "A web search: products, manuals, news, documentation of software.",
}
_TOKENS = 200


def choose(query: Query, tools: Tools, config: Config) -> Query:
    """The query with the sources that the LLM called as tools, if it could and named nothing that it was not offered.

    Whatever else it does chooses none. Complex questions and further passes ask what they always ask.
    """
    chat = tools.chat
    if not config.flags.choose_sources or not tools.sources or chat is None or query.kind == "complex":
        return replace(query, decision="off", reason="", data={}, degraded=())
    offered = {one.name: Tool(name=one.name, description=_WHAT.get(one.name, one.name)) for one in tools.sources}
    message = Message(role="user", content=prompt("choose", question=query.question))
    try:
        reply = chat.chat(
            [message], timeout_s=config.triage.timeout_s, max_tokens=_TOKENS, tools=tuple(offered.values())
        )
    except RemoteError as error:
        down = ("llm",) if isinstance(error, RemoteUnavailable) else ()
        return replace(query, decision="none", reason=f"LLM: {error}", data={}, degraded=down)
    named = tuple(dict.fromkeys(reply.tools))
    if unknown := [name for name in named if name not in offered]:
        return replace(query, decision="none", reason=f"it called {unknown[0]!r:.60}", data={}, degraded=())
    return replace(query, decision=", ".join(named) or "none", reason="", data={}, degraded=(), sources=named)
