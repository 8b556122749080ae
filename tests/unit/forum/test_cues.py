"""Signs in a sentence: what leans on the posts before it."""

from __future__ import annotations

import pytest

from forum.cues import points_up


@pytest.mark.parametrize(
    "text",
    ["You can, and it will be wrong. See “why slowly” above.", "As I said above: no.", "Voir la liste ci-dessus."],
)
def test_a_short_post_that_refers_to_another_points_up(text: str) -> None:
    assert points_up(text)


@pytest.mark.parametrize(
    "text", ["Set it above 97 %.", "Montez-la plus haut.", "See the list above. " + "It tips. " * 30]
)
def test_a_height_or_a_post_that_says_more_does_not(text: str) -> None:
    assert not points_up(text)
