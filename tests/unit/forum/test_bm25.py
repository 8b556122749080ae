"""BM25 against rank-bm25: the same scores wherever its idf is positive."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from forum.bm25 import Corpus, bm25, coverage

rank_bm25 = pytest.importorskip("rank_bm25", reason="needs the `eval` extra")

_words = st.lists(st.sampled_from("abcdefghijklmnop"), min_size=1, max_size=20)


def _corpus(posts: list[list[str]]) -> Corpus:
    frequencies = Counter(term for post in posts for term in set(post))
    return Corpus(documents=len(posts), average_length=sum(map(len, posts)) / len(posts), frequencies=dict(frequencies))


@given(st.lists(_words, min_size=6, max_size=25), _words)
def test_scores_are_those_of_rank_bm25(posts: list[list[str]], question: list[str]) -> None:
    corpus = _corpus(posts)
    asked = Counter(term for term in question if 0 < corpus.frequencies.get(term, 0) <= 0.45 * len(posts))
    assume(asked)
    expected = rank_bm25.BM25Okapi(posts, k1=1.5, b=0.75).get_scores(list(asked.elements()))
    for post, score in zip(posts, expected, strict=True):
        assert bm25(Counter(post), len(post), asked, corpus) == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize("posts", [[["a"]], [["a"], ["a", "b"]], [["a"], ["a"], ["b"], ["c"]]])
def test_a_word_of_half_or_all_posts_still_counts(posts: list[list[str]]) -> None:
    corpus = _corpus(posts)
    assert bm25({"a": 1}, 1, {"a": 1}, corpus) > 0


def test_an_empty_forum_divides_by_nothing() -> None:
    assert bm25({}, 0, {"a": 1}, Corpus(documents=0, average_length=0.0, frequencies={})) == 0


def test_coverage_weighs_rare_words_more() -> None:
    corpus = Corpus(documents=1000, average_length=10, frequencies={"common": 400, "rare": 2})
    assert coverage({"rare": 1}, ("common", "rare"), corpus) > 0.9
    assert coverage({"common": 1}, ("common", "rare"), corpus) < 0.1
