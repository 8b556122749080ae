"""Whether a post asks rather than says something."""

from __future__ import annotations

import re
from collections.abc import Iterable

from forum.cues import advises, asks, complains
from forum.pieces import pieces
from forum.types import Passage
from forum.username import folded

#: An opener that asks or tells a trouble and is longer says more than that; in characters.
_LONG_QUESTION, _LONG_TROUBLE = 900, 700


def is_question(passage: Passage) -> bool:
    """A post that asks: it opens a thread with a question or a trouble in it, or is little but a question."""
    said = [piece.text for piece in pieces(passage.text)]
    questions = sum(asks(one) for one in said)
    if passage.post_number == 1:
        titled = asks(passage.title) or (questions > 0 and len(passage.text) < _LONG_QUESTION)
        return titled or (any(complains(one) for one in said) and len(passage.text) < _LONG_TROUBLE)
    return questions > 0 and questions >= len(said) / 3


def answers_itself(passage: Passage) -> bool:
    """Its own words advise, and neither ask nor tell a trouble: whatever its title asks, it says something."""
    said = [piece.text for piece in pieces(passage.text)]
    return any(map(advises, said)) and not any(asks(one) or complains(one) for one in said)


def asks_the_bot(passage: Passage, usernames: Iterable[str]) -> bool:
    """It turns to one of the bot's accounts: it begins with the name, or has a question and the name somewhere."""
    text = folded(passage.text)
    named = [re.search(rf"(?<!\w)@{re.escape(folded(name))}(?![\w-])", text) for name in usernames]
    first = min((found.start() for found in named if found), default=-1)
    return first == 0 or (first > 0 and any(asks(piece.text) for piece in pieces(passage.text)))
