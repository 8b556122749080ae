"""What a question may see: everything public, or what its persona reads; never the asking post itself."""

from __future__ import annotations

from forum.config import Config
from forum.types import Question, Scope


def scope_of(question: Question, config: Config) -> Scope:
    """The scope that every look-up for this question goes by; the filter itself is in the SQL."""
    persona = config.persona(question.persona)
    return Scope(
        exclude_post_ids=frozenset() if question.post_id is None else frozenset((question.post_id,)),
        category_ids=None if persona.category_ids is None else frozenset(persona.category_ids),
        collections=frozenset(persona.collections),
    )
