"""Stage read: the question as it will be answered, its language, and fixed replies to what is no question."""

from __future__ import annotations

from dataclasses import replace

from bot.messages import message
from bot.stages.results import Asked
from forum.config import Config
from forum.language import LanguageGuess, detect
from forum.types import Question
from forum.unicode_safety import one_line, safe


def read(question: Question, config: Config) -> Asked:
    """Make the question's text safe and settle the language of the reply."""
    text = safe(question.text).strip()
    limit = config.limits(question.persona).question_characters
    guess = _language(text[:limit], question, config)
    language = question.language if question.language in config.forum.languages else guess.code
    asked = replace(question, text=text, title=one_line(question.title), language=language)
    if not any(character.isalnum() for character in text):
        return Asked(
            decision="empty",
            reason="nothing was asked",
            question=asked,
            language=language,
            reply=message("help", language),
        )
    if len(text) > limit:
        return Asked(
            decision="too_long",
            reason=f"{len(text)} characters, the limit is {limit}",
            question=replace(asked, text=text[:limit]),
            language=language,
            reply=message("too_long", language, limit=limit),
        )
    return Asked(decision="ask", reason=guess.why, question=asked, language=language)


def _language(text: str, question: Question, config: Config) -> LanguageGuess:
    """By the text itself, else by the asker's earlier posts, the topic's title, the persona, the forum's default."""
    allowed = config.forum.languages
    earlier = [
        turn.text for turn in reversed(question.conversation) if not turn.is_bot and question.asker in ("", turn.author)
    ]
    told = [detect(known, allowed) for known in (*earlier[:2], question.title)]
    fallbacks = [guess.code if guess.confidence else None for guess in told]
    return detect(
        text,
        allowed,
        fallbacks=[*fallbacks, config.persona(question.persona).language],
        default=config.forum.default_language,
    )
