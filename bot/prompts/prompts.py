"""Builds prompts from the templates beside it: sandboxed, strict about missing names, sized to the context."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from bot.stages.results import Query, Zoned
from forum.config import Config
from forum.errors import ConfigError
from forum.ports import Message
from forum.tokens import estimated_tokens
from forum.types import Candidate
from forum.unicode_safety import one_line, safe
from forum.window import best_window

_FOLDER = Path(__file__).parent
#: What the fence around untrusted text is made of; it cannot stand in that text. Each line of it begins with a bar.
FENCE, BAR = "⟦⟧", "│"
#: What the LLM writes when the sources do not answer; never shown to a member.
NO_ANSWER = "NO_ANSWER"
#: The rules of an answer, in order of weight; each is a clause in clauses/LANGUAGE.
RULES = ("sources_only", "markers", "refusal", "untrusted", "no_links", "role_limit", "style", "language")
#: The least of a source that is worth its place, in characters.
_LEAST_SOURCE = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """Messages that fit the context, and what was left out for it: places of `evidence.sources` from the end."""

    messages: tuple[Message, ...]
    sources: int
    dropped: int
    tokens: int


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(_FOLDER),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["line"] = lambda value: one_line(unfenced(str(value)), 200)
    environment.filters["fenced"] = lambda value: fenced(str(value))
    return environment


def unfenced(untrusted: str) -> str:
    """Untrusted text without the characters of the fence."""
    text = safe(untrusted)
    for character in FENCE + BAR:
        text = text.replace(character, "|")
    return text


def fenced(untrusted: str) -> str:
    """Untrusted text that cannot close its fence: every line is marked as data."""
    return "\n".join(f"{BAR} {line}" for line in unfenced(untrusted).split("\n"))


def prompt(name: str, /, **values: Any) -> str:
    """The template NAME.j2 filled in. Raises jinja2.UndefinedError for a name that the template wants."""
    return _environment().get_template(f"{name}.j2").render(**values).strip()


@cache
def prompt_digest() -> str:
    """What names this set of prompts in results: twelve hex digits over all templates."""
    total = hashlib.sha256()
    for file in sorted(_FOLDER.rglob("*.j2")):
        total.update(file.relative_to(_FOLDER).as_posix().encode() + b"\0" + file.read_bytes())
    return total.hexdigest()[:12]


def check_clauses(names: Sequence[str]) -> None:
    """Raises ConfigError for a clause that clauses/ does not hold in every language; names are `style.steps`, ..."""
    known = {file.stem for file in (_FOLDER / "clauses" / "en").glob("*.j2")}
    known &= {file.stem for file in (_FOLDER / "clauses" / "fr").glob("*.j2")}
    for name in names:
        if name not in known:
            raise ConfigError(f"personas.clauses: no clause {name}. There are: {', '.join(sorted(known))}.")


def answer_prompt(
    query: Query, zoned: Zoned, config: Config, *, context_tokens: int, shorter: float = 1.0
) -> Prompt | None:
    """System and user message within the context; evidence is dropped from the lowest rank, rules and question never.

    `shorter` scales the room (a server that refused the first try). None: not even one short source fits.
    """
    chosen = zoned.evidence.sources
    room = int((context_tokens - config.llm.max_tokens) * shorter)
    tries = [(count, config.evidence.source_characters) for count in range(len(chosen), 0, -1)]
    for count, characters in [*tries, (1, _LEAST_SOURCE)]:
        messages = _messages(query, zoned, config, chosen[:count], characters)
        tokens = sum(estimated_tokens(message.content) for message in messages)
        if tokens <= room:
            return Prompt(messages=messages, sources=count, dropped=len(chosen) - count, tokens=tokens)
    return None


def _messages(
    query: Query, zoned: Zoned, config: Config, sources: Sequence[Candidate], characters: int
) -> tuple[Message, ...]:
    persona = config.persona(query.question.persona)
    check_clauses(persona.clauses)
    values: dict[str, Any] = {
        "language": query.language,
        "name": one_line(persona.name or persona.username),
        "tone": persona.tone,
        "no_answer": NO_ANSWER,
        "count": max(len(sources), 1),
        "zone": zoned.zone.value,
    }
    # `style.steps` takes the place of `style`; a clause of another name comes as one more rule.
    variants = {name.partition(".")[0]: name for name in persona.clauses}
    more = tuple(name for base, name in variants.items() if base not in RULES)

    def clause(name: str) -> str:
        return prompt(f"clauses/{query.language}/{variants.get(name, name)}", **values)

    system = prompt("system", clause=clause, rules=(*RULES, *more))
    user = prompt(
        "answer",
        clause=clause,
        question=query.question,
        sources=[_source(n, source, query, characters) for n, source in enumerate(sources, 1)],
        **values,
    )
    return (Message(role="system", content=system), Message(role="user", content=user))


def _source(n: int, source: Candidate, query: Query, characters: int) -> Mapping[str, Any]:
    passage = source.passage
    return {
        "n": n,
        "title": passage.title,
        "date": passage.created_at.date().isoformat() if passage.created_at else "",
        "accepted": passage.signals.accepted,
        "text": best_window(passage.text, query.full, characters),
    }
