"""RRF's properties: order of channels, agreement, monotony, and the convex combination's bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forum.fusion import best_per_topic, convex_combination, reciprocal_rank_fusion
from forum.types import Hit

_hits = st.lists(
    st.builds(
        lambda post, score: Hit(post_id=post, topic_id=post // 3, score=score),
        st.integers(1, 60),
        st.floats(-5, 5),
    ),
    max_size=30,
    unique_by=lambda hit: hit.post_id,
)
_channels = st.dictionaries(st.sampled_from(["posts", "keyword", "topics"]), _hits, min_size=1)


@given(_channels)
def test_every_topic_of_a_channel_comes_out_once(channels: dict[str, list[Hit]]) -> None:
    fused = reciprocal_rank_fusion(channels)
    assert sorted(one.topic_id for one in fused) == sorted({h.topic_id for hits in channels.values() for h in hits})


@given(_channels)
def test_the_score_is_the_sum_of_the_ranks_reciprocals(channels: dict[str, list[Hit]]) -> None:
    for one in reciprocal_rank_fusion(channels, k=60):
        assert one.score == pytest.approx(sum(1 / (60 + rank) for rank in one.ranks.values()))


@given(_channels)
def test_the_order_of_the_channels_does_not_matter(channels: dict[str, list[Hit]]) -> None:
    assert reciprocal_rank_fusion(channels) == reciprocal_rank_fusion(dict(reversed(channels.items())))


@given(_channels)
def test_the_best_come_first(channels: dict[str, list[Hit]]) -> None:
    scores = [one.score for one in reciprocal_rank_fusion(channels)]
    assert scores == sorted(scores, reverse=True)


@given(_hits)
def test_one_channel_alone_keeps_its_order(hits: list[Hit]) -> None:
    fused = reciprocal_rank_fusion({"posts": hits})
    assert [one.post_id for one in fused] == [hit.post_id for hit in best_per_topic(hits)]


@given(_channels, st.integers(1, 200))
def test_another_channel_that_agrees_never_lowers_a_topic(channels: dict[str, list[Hit]], topic: int) -> None:
    before = {one.topic_id: one.score for one in reciprocal_rank_fusion(channels)}
    more = {**channels, "extra": [Hit(post_id=1000, topic_id=topic, score=1.0)]}
    after = {one.topic_id: one.score for one in reciprocal_rank_fusion(more)}
    assert after[topic] > before.get(topic, 0.0)


def test_channels_agree_on_a_topic_through_different_posts() -> None:
    fused = reciprocal_rank_fusion(
        {
            "posts": [Hit(post_id=9, topic_id=2, score=0.9), Hit(post_id=1, topic_id=1, score=0.8)],
            "keyword": [Hit(post_id=2, topic_id=1, score=7.0)],
        }
    )
    assert [one.topic_id for one in fused] == [1, 2]
    assert fused[0].post_id == 2
    assert fused[0].scores == {"posts": 0.8, "keyword": 7.0}


@given(_channels)
def test_a_convex_combination_stays_between_nothing_and_all(channels: dict[str, list[Hit]]) -> None:
    assert all(-1e-9 <= one.score <= 1 + 1e-9 for one in convex_combination(channels))
