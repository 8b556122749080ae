"""What the stages found for a made-up question."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

import pytest

from eval.question_set import Asked
from eval.runner import Found
from forum.types import Candidate, Match, Passage, Signals


class MadeFound(Protocol):
    """A question whose candidates are of the topics 1, 2, ... in the order of fusion."""

    def __call__(
        self,
        id: str,
        matches: Sequence[Match],
        *,
        relevant: Collection[int] = (),
        links: Mapping[int, int] | None = None,
    ) -> Found:
        """`relevant` and `links` by topic; a topic's only post has ten times its id."""
        ...


def _found(
    id: str, matches: Sequence[Match], *, relevant: Collection[int] = (), links: Mapping[int, int] | None = None
) -> Found:
    candidates = tuple(
        Candidate(
            passage=Passage(
                content_id=f"post:{topic * 10}:1",
                post_id=topic * 10,
                topic_id=topic,
                title="",
                text="",
                signals=Signals(links_in=(links or {}).get(topic, 0)),
            ),
            match=match,
        )
        for topic, match in enumerate(matches, start=1)
    )
    asked = Asked(id=id, title=id, body="", relevant_topics=frozenset(relevant), grades=dict.fromkeys(relevant, 1))
    return Found(asked=asked, candidates=candidates, reranked=candidates, recall_ms=0.0, rerank_ms=0.0)


@pytest.fixture
def made_found() -> MadeFound:
    return _found
