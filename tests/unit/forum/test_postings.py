"""The best of many scores are those of a full sort, whatever the sample said."""

from __future__ import annotations

import numpy as np
import pytest

from forum.postings import BLOCK_BITS, Scored

SIZE = 2**BLOCK_BITS


def _some(kind: str, *, blocks: tuple[int, ...] = (0, 3, 9)) -> Scored:
    rng = np.random.default_rng(7)
    count = len(blocks) * SIZE
    scores = {
        "all different": rng.random(count) * (rng.random(count) < 0.3),
        "many ties": rng.integers(0, 4, count).astype(float),
        "nearly none": np.where(np.arange(count) % 5_000 == 17, 1.5, 0.0),
        "the best side by side": np.where(np.arange(count) < 900, 9.0, rng.random(count)),
    }[kind]
    return Scored(np.array(blocks, np.int64), scores)


def _sorted(scored: Scored, count: int) -> list[tuple[int, float]]:
    ids = np.concatenate([block * SIZE + np.arange(SIZE) for block in scored.blocks])
    rows = [(int(one), float(score)) for one, score in zip(ids, scored.scores, strict=True) if score > 0]
    return sorted(rows, key=lambda row: (-row[1], row[0]))[:count]


@pytest.mark.parametrize("kind", ["all different", "many ties", "nearly none", "the best side by side"])
@pytest.mark.parametrize("count", [1, 25, 500, 30_000])
def test_the_best_are_those_of_a_full_sort(kind: str, count: int) -> None:
    scored = _some(kind)
    assert list(zip(*scored.best(count), strict=True)) == _sorted(scored, count)


def test_what_is_raised_comes_first() -> None:
    scored = _some("all different")
    by = {3 * SIZE + 5: 4.0, 9 * SIZE + 1: 7.0}
    raised = scored.raised(by)
    assert raised.best(2)[0] == [9 * SIZE + 1, 3 * SIZE + 5]
    assert raised.scores.sum() == pytest.approx(scored.scores.sum() + 11)
    assert len(raised) >= len(scored)
