"""What POST /ask takes: the body as a validated value, and the question with its config made of it."""

from __future__ import annotations

import difflib
import json
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from forum.config import Config
from forum.types import Question, Turn
from forum.unicode_safety import safe
from forum.username import folded

MOST_TURNS, MOST_SOURCES = 20, 20


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _whole(value: object) -> object:
    """JSON has one kind of number: 5.0 is the integer 5."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class TurnBody(_Strict):
    """An earlier part of the conversation, oldest first."""

    role: Literal["user", "assistant"]
    text: Annotated[str, Field(max_length=8000)]


class AskBody(_Strict):
    """The body of POST /ask."""

    question: Annotated[str, Field(min_length=1)]
    persona: str = ""
    top_k: Annotated[int, BeforeValidator(_whole), Field(ge=1, le=MOST_SOURCES)] | None = None
    language: str | None = None
    conversation: Annotated[list[TurnBody], Field(max_length=MOST_TURNS)] = []


def read_body(body: bytes, config: Config) -> AskBody:
    """Raises ValueError with one line that names the key and the mend; the line holds no text of the question."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError("the body is not JSON") from None
    if not isinstance(data, dict):
        raise ValueError("the body must be a JSON object with the key question")  # noqa: TRY004 - of the caller's
    try:
        asked = AskBody.model_validate(data)
    except ValidationError as error:
        raise ValueError(_first_problem(error)) from None
    limit = config.bot.limits.question_characters
    if len(asked.question) > limit:
        raise ValueError(f"question: {len(asked.question)} characters, the limit is {limit}")
    if asked.language is not None and asked.language not in config.forum.languages:
        raise ValueError(f"language: must be one of {', '.join(config.forum.languages)}")
    if asked.persona and folded(asked.persona) not in map(folded, config.usernames):
        raise ValueError(f"persona: must be one of {', '.join(config.usernames)}")
    return asked


def question_of(asked: AskBody, *, asker: str, at: datetime) -> Question:
    """The question as `answer` takes it; the rest of the body changes the config (`config_for`)."""
    return Question(
        text=safe(asked.question),
        language=asked.language,
        asked_at=at,
        asker=asker,
        persona=asked.persona,
        conversation=tuple(
            # The asker's own earlier words tell the language, as in a topic.
            Turn(author="bot", text=safe(turn.text), is_bot=True)
            if turn.role == "assistant"
            else Turn(author=asker, text=safe(turn.text))
            for turn in asked.conversation
        ),
    )


def config_for(asked: AskBody, config: Config) -> Config:
    """`top_k` is the number of sources, for this question only."""
    if asked.top_k is None:
        return config
    return config.model_copy(update={"evidence": config.evidence.model_copy(update={"sources": asked.top_k})})


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False)[0]
    path = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        model = TurnBody if len(problem["loc"]) > 1 else AskBody
        near = difflib.get_close_matches(str(problem["loc"][-1]), list(model.model_fields), n=1, cutoff=0.4)
        return f"unknown key {path:.80}." + (f" Did you mean {near[0]}?" if near else "")
    return f"{path}: {problem['msg']}"
