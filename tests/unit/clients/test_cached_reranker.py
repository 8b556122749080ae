"""The cache before a cross-encoder: each pair is read once, and only that pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from clients.cached_reranker import CachedReranker
from clients.composition import build_reranker
from forum.config import RerankerSection
from forum.errors import RemoteUnavailable
from forum.types import Candidate, Passage


class _Counting:
    """Scores a text by its length and remembers what it was asked."""

    model_id = "counting"

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.down = False

    def score(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        if self.down:
            raise RemoteUnavailable("down", service="reranker")
        self.asked.append([one.excerpt for one in candidates])
        return [float(len(question) + len(one.excerpt)) for one in candidates]


def _candidate(excerpt: str, *, version: int = 1, title: str = "t") -> Candidate:
    passage = Passage(content_id=f"post:1:{version}", version=version, title=title, text=excerpt)
    return Candidate(passage=passage, excerpt=excerpt)


def test_a_pair_is_read_once_and_the_order_is_kept() -> None:
    inner = _Counting()
    cached = CachedReranker(inner)
    first = cached.score("q", [_candidate("a"), _candidate("bbb")])
    again = cached.score("q", [_candidate("bbb"), _candidate("cc"), _candidate("a")])
    assert (first, again) == ([2.0, 4.0], [4.0, 3.0, 2.0])
    assert inner.asked == [["a", "bbb"], ["cc"]]


def test_another_question_title_or_text_is_another_pair() -> None:
    inner = _Counting()
    cached = CachedReranker(inner)
    cached.score("q", [_candidate("a")])
    cached.score("other", [_candidate("a")])
    cached.score("q", [_candidate("a", title="renamed")])
    cached.score("q", [_candidate("edited", version=2)])
    assert len(inner.asked) == 4


def test_the_least_recently_used_pair_goes_first() -> None:
    inner = _Counting()
    cached = CachedReranker(inner, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cached.score("q", [_candidate(text)])
    assert [texts for texts in inner.asked if texts] == [["a"], ["b"], ["c"], ["b"]]


def test_more_candidates_than_fit_are_all_scored() -> None:
    texts = [_candidate("x" * n) for n in range(5)]
    assert CachedReranker(_Counting(), size=2).score("q", texts) == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_a_failure_is_not_remembered() -> None:
    inner = _Counting()
    cached = CachedReranker(inner)
    inner.down = True
    with pytest.raises(RemoteUnavailable):
        cached.score("q", [_candidate("a")])
    inner.down = False
    assert cached.score("q", [_candidate("a")]) == [2.0]


def test_nothing_that_a_member_wrote_is_kept() -> None:
    cached = CachedReranker(_Counting())
    one = _candidate("a secret sentence")
    cached.score("question", [one, replace(one, excerpt="another")])
    assert all(len(key) == 16 and isinstance(score, float) for key, score in cached._known.items())


@pytest.mark.parametrize("backend", ["tei", "sentence-transformers", "onnx"])
def test_every_cross_encoder_stands_behind_the_cache(backend: str) -> None:
    assert isinstance(build_reranker(RerankerSection.model_validate({"backend": backend})), CachedReranker)
