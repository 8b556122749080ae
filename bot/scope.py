"""What a question may see: everything public, or what its persona reads; never the asking post itself."""

from __future__ import annotations

from forum.config import Config
from forum.types import Question, Scope, Thread


def scope_of(question: Question, config: Config) -> Scope:
    """The scope that every look-up for this question goes by; the filter itself is in the SQL."""
    persona = config.persona(question.persona)
    return Scope(
        exclude_post_ids=frozenset() if question.post_id is None else frozenset((question.post_id,)),
        category_ids=None if persona.category_ids is None else frozenset(persona.category_ids),
        collections=frozenset(persona.collections),
        thread=thread_of(question.topic_id, question.category_id, config),
    )


def thread_of(topic_id: int | None, category_id: int | None, config: Config) -> Thread | None:
    """Whose readers must be able to read what is cited; None where that is everyone."""
    opened = frozenset(config.indexer.opened_category_ids)
    if topic_id is None or not opened:
        return None
    return Thread(topic_id=topic_id, category_id=category_id, opened_category_ids=opened)
