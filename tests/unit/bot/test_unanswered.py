"""Which posts only ask: they are no evidence until somebody has said something below them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import pytest

from bot.stages.aggregate import aggregate
from bot.stages.results import Evidence, Query, Reranked
from bot.stages.zone import zone
from bot.tools import Tools
from bot.unanswered import unanswered
from forum.config import Config
from forum.ports import Embedder, Index
from forum.types import Candidate, Passage, Question, Scope, Signals, Zone

ASKED = "How do I keep my sourdough starter alive during a holiday?"
QUERY = Query(decision="", question=Question(text=ASKED), language="en", text=ASKED)


def post(
    number: int, text: str, *, by: str = "anna", topic: int = 1, title: str = "Sourdough", posts: int = 2
) -> Passage:
    return Passage(
        content_id=f"post:{topic}0{number}:1", post_id=topic * 10 + number, topic_id=topic, post_number=number,
        title=title, text=text, username=by, signals=Signals(topic_posts=posts),
    )  # fmt: skip


class _Threads:
    """An index that knows only which posts stand beside which."""

    def __init__(self, posts: Sequence[Passage]) -> None:
        self._posts = posts
        self.looks = 0

    def neighbours(self, post_ids: Sequence[int], *, radius: int, scope: Scope) -> dict[int, list[Passage]]:
        self.looks += 1
        return {id: [one for one in self._posts if one.topic_id == id // 10 and one.post_id != id] for id in post_ids}


class _Apart:
    """A reranker that compares what was found together: each loses `falls` when it is weighed again."""

    model_id = "features"

    def __init__(self, falls: float) -> None:
        self._falls = falls

    def score(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        return [(one.logit or 0.0) - self._falls for one in candidates]


def tools(*posts: Passage, falls: float = 0.0) -> Tools:
    nothing = cast(Embedder, None)
    return Tools(index=cast(Index, _Threads(posts)), embedder=nothing, reranker=_Apart(falls))


def bare(asked: Passage, *others: Passage) -> bool:
    return unanswered(QUERY, asked, tools(asked, *others), Config())


OPENER = post(1, ASKED)


@pytest.mark.parametrize(
    "asked",
    [
        OPENER,
        post(1, f"@threadcite {ASKED}"),
        post(1, "@threadcite tell me how to keep sourdough alive"),
        post(4, f"Hello @Threadcite, {ASKED}"),
        post(4, ASKED),
    ],
)
def test_a_question_with_nothing_below_is_unanswered(asked: Passage) -> None:
    assert bare(asked, post(0, "Flour, water and time is all that it takes.", by="bea"))


@pytest.mark.parametrize(
    "below",
    [
        post(2, "Same question here, did you find out?", by="bea"),
        post(2, "@threadcite how do I keep sourdough alive?", by="bea"),
        post(2, "Nothing in the forum answers this.", by="threadcite"),
        post(2, "Pushing this up."),
    ],
)
def test_what_says_nothing_is_no_answer(below: Passage) -> None:
    assert bare(OPENER, below)


@pytest.mark.parametrize(
    "below",
    [
        post(2, "Keep it in the fridge.", by="bea"),
        post(2, "Found it myself: you can dry it on baking paper."),
        replace(post(2, "Fridge?", by="bea"), signals=Signals(accepted=True)),
    ],
)
def test_a_members_word_below_is_an_answer(below: Passage) -> None:
    assert not bare(OPENER, below)


@pytest.mark.parametrize(
    "said", [post(1, "Feed it, then freeze it.", title="Sourdough: a guide"), post(3, "Freeze it.")]
)
def test_what_says_something_needs_no_answer(said: Passage) -> None:
    assert not bare(said)


def evidence(
    *posts: tuple[float, Passage], beside: Sequence[Passage] = (), falls: float = 0.0, config: Config | None = None
) -> Evidence:
    ranked = tuple(Candidate(passage=passage, logit=logit) for logit, passage in posts)
    found = Reranked(decision="", candidates=ranked, model_id="features")
    beside = [*(passage for _, passage in posts), *beside]
    return aggregate(QUERY, found, tools(*beside, falls=falls), config or Config())


FAR = post(1, "The LED blinks green.", topic=2, title="LED")


def test_the_zone_is_that_of_the_best_post_that_can_be_an_answer() -> None:
    found = evidence((10.9, OPENER), (-3.0, FAR))
    assert zone(found, Config()).zone is Zone.ABSTAIN
    assert (found.sources[0].passage, found.data["unanswered"]) == (FAR, [OPENER.content_id])


def test_what_is_left_is_weighed_without_the_question_that_matched_best() -> None:
    found = evidence((10.9, OPENER), (2.5, FAR), falls=5.0)
    assert zone(found, Config()).zone is Zone.ABSTAIN
    crossed = Config.model_validate({"reranker": {"backend": "tei", "url": "http://127.0.0.1:9"}})
    assert evidence((10.9, OPENER), (2.5, FAR), falls=5.0, config=crossed).sources[0].logit == 2.5


def test_with_a_members_answer_below_the_question_counts() -> None:
    found = evidence((10.9, OPENER), (-3.0, FAR), beside=[post(2, "Keep it in the fridge.", by="bea")])
    assert zone(found, Config()).zone is Zone.OK


def test_another_post_of_the_same_topic_takes_its_place() -> None:
    guide = post(1, "Feed it, then freeze it.", title="Sourdough: a guide")
    found = evidence((10.9, post(7, f"@threadcite {ASKED}")), (5.0, guide))
    assert [one.passage for one in found.sources] == [guide]


def test_nothing_but_bare_questions_is_no_evidence() -> None:
    found = evidence((10.9, OPENER))
    assert (found.sources, zone(found, Config()).reason) == ((), "only questions that nobody answered")


def test_an_opener_that_answers_its_own_title_is_evidence() -> None:
    title = "Which knot for the bridle?"
    assert not bare(post(1, "Tie it with a larks head knot, which never slips.", title=title))
    assert bare(post(1, "It never holds. I tried three of them.", title=title))
