"""Builds prompts from the templates beside it: sandboxed, strict about missing names, sized to the context."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from bot.stages.results import Query, Zoned
from forum.config import Config
from forum.ports import Message
from forum.text import excerpt
from forum.types import Candidate
from forum.unicode_safety import one_line, safe

#: What the fence around untrusted text is made of; it cannot stand in that text.
FENCE = "⟦⟧"
#: A cautious count: no tokenizer of the models named in the docs makes fewer characters of a token than this.
_CHARACTERS_A_TOKEN = 3


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["line"] = lambda value: one_line(fenced(str(value)), 200)
    environment.filters["fenced"] = lambda value: fenced(str(value))
    return environment


def fenced(untrusted: str) -> str:
    """Untrusted text that cannot close its fence."""
    text = safe(untrusted)
    for character in FENCE:
        text = text.replace(character, "|")
    return text


def prompt(name: str, **values: Any) -> str:
    """The template NAME.j2 filled in. Raises jinja2.UndefinedError for a name that the template wants."""
    return _environment().get_template(f"{name}.j2").render(**values).strip()


def answer_messages(query: Query, zoned: Zoned, config: Config, *, context_tokens: int) -> tuple[list[Message], int]:
    """System and user message within the context; evidence is dropped from the lowest rank, rules never.

    Returns the messages and how many sources were dropped.
    """
    sources = list(zoned.evidence.sources)
    room = (context_tokens - config.llm.max_tokens) * _CHARACTERS_A_TOKEN
    system = prompt("system", language=query.language, config=config, zone=zoned.zone.value)
    while True:
        user = prompt(
            "answer",
            language=query.language,
            question=query,
            zone=zoned.zone.value,
            sources=[_source(n, source, config) for n, source in enumerate(sources, 1)],
        )
        if len(system) + len(user) <= room or len(sources) <= 1:
            break
        sources.pop()
    messages = [Message(role="system", content=system), Message(role="user", content=user)]
    return messages, len(zoned.evidence.sources) - len(sources)


def _source(n: int, source: Candidate, config: Config) -> dict[str, Any]:
    passage = source.passage
    return {
        "n": n,
        "title": passage.title,
        "date": passage.created_at.date().isoformat() if passage.created_at else "",
        "accepted": passage.signals.accepted,
        "text": excerpt(passage.text, config.evidence.source_characters),
    }
