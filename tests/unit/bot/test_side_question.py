"""In a thread about one thing a member may ask about another: the title is leant on only where it is needed."""

from __future__ import annotations

from typing import cast

import pytest

from bot.quote import _quotable
from bot.stages.condense import condense
from bot.stages.results import Asked, Triaged
from bot.tools import Tools
from forum.config import Config
from forum.pieces import pieces
from forum.types import Question

TITLE = "Hygro-S3 shows 99.9 all the time"


@pytest.mark.parametrize(
    ("text", "below", "title"),
    [
        ("comment calibrer le pluviomètre ?", True, ""),
        ("How do I calibrate the rain gauge?", True, ""),
        ("Is it broken?", True, TITLE),
        ("How long should this be heated for?", True, TITLE),
        ("Any idea?", True, TITLE),
        ("How do I calibrate the rain gauge?", False, TITLE),
    ],
)
def test_the_title_is_part_of_a_question_that_leans_on_it(text: str, below: bool, title: str) -> None:
    question = Question(text=text, title=TITLE, below=below)
    asked = Asked(decision="ask", question=question, language="en")
    query = condense(asked, Triaged(decision="simple"), cast(Tools, None), Config())
    assert query.title == title


def test_a_short_answer_without_a_full_stop_can_be_quoted() -> None:
    (piece,) = pieces("hold the red rain counter button for ten seconds")
    assert _quotable(piece, last=True)
    assert not _quotable(piece, last=False)
