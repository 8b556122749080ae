"""The OpenAPI description of POST /ask, with the limits, languages and personas of the config in force."""

from __future__ import annotations

from typing import Any

from bot.api_request import MOST_SOURCES, MOST_TURNS
from forum.config import Config
from forum.types import Route, Zone

_TEXT = {"type": "string"}
_NUMBER = {"type": "number"}
_WHOLE = {"type": "integer"}
_YES_OR_NO = {"type": "boolean"}


def openapi(config: Config) -> dict[str, Any]:
    """OpenAPI 3.1, as GET /openapi.json gives it."""
    answered = {
        "description": "The answer; with Accept: text/event-stream the events `stage`, `text`, `answer`, `error`.",
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/Answer"}},
            "text/event-stream": {"schema": _TEXT},
        },
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Threadcite",
            "version": "1",
            "description": "Answers from a forum's posts, every claim cited.",
        },
        "paths": {
            "/ask": {
                "post": {
                    "operationId": "ask",
                    "summary": "Answer one question from what everyone may read.",
                    "security": [{"token": []}],
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Ask"}}},
                    },
                    "responses": {
                        "200": answered,
                        "400": _problem("The body is wrong; the line names the key."),
                        "401": _problem("No token, or an unknown one.", "WWW-Authenticate"),
                        "413": _problem("The body is too large."),
                        "415": _problem("The body is not application/json."),
                        "429": _problem("The token's questions of this minute are used up.", "Retry-After"),
                        "503": _problem("Too many questions at once, or a part is down.", "Retry-After"),
                    },
                }
            }
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Ask": _ask(config), "Answer": _ANSWER, "Problem": _object(error=_TEXT)},
        },
    }


def _ask(config: Config) -> dict[str, Any]:
    limit = config.bot.limits.question_characters
    turn = {
        **_object(role={"enum": ["user", "assistant"]}, text={"type": "string", "maxLength": 8000}),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "required": ["question"],
        "additionalProperties": False,
        "properties": {
            "question": {"type": "string", "minLength": 1, "maxLength": limit},
            "persona": {"enum": ["", *config.usernames], "description": "Whose voice and knowledge; empty: the bot's."},
            "top_k": {"type": ["integer", "null"], "minimum": 1, "maximum": MOST_SOURCES, "description": "Sources."},
            "language": {"enum": [*config.forum.languages, None], "description": "Of the answer; default: as asked."},
            "conversation": {"type": "array", "maxItems": MOST_TURNS, "items": turn, "description": "Oldest first."},
        },
    }


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


def _problem(description: str, *headers: str) -> dict[str, Any]:
    return {
        "description": description,
        "headers": {name: {"schema": _TEXT, "required": True} for name in headers},
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def _map(values: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values}


_PLACE = {"post_id": _WHOLE, "topic_id": _WHOLE, "post_number": _WHOLE, "content_id": _TEXT}
_ANSWER = _object(
    answer={"type": "string", "description": "Markdown."},
    zone={"enum": [zone.value for zone in Zone]},
    route={"enum": [route.value for route in Route]},
    language=_TEXT,
    low_confidence=_YES_OR_NO,
    citations={"type": "array", "items": _object(n=_WHOLE, url=_TEXT, quote=_TEXT, **_PLACE)},
    sources={
        "type": "array",
        "items": _object(
            n=_WHOLE,
            title=_TEXT,
            created_at={"type": ["string", "null"]},
            accepted=_YES_OR_NO,
            ranks=_map(_WHOLE),
            scores=_map(_NUMBER),
            rrf=_NUMBER,
            ce={"type": ["number", "null"]},
            **_PLACE,
        ),
    },
    retrieval_evaluation=_object(
        has_answer=_YES_OR_NO, confidence={"type": "number", "minimum": 0, "maximum": 1}, reason=_TEXT
    ),
    trace_id=_TEXT,
    timings_ms=_map(_NUMBER),
    degraded={"type": "array", "items": _TEXT},
)
