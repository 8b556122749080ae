"""Signs in a sentence: what leans on the posts before it, what is mere talk."""

from __future__ import annotations

import pytest

from forum.cues import chats, points_up


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


@pytest.mark.parametrize(
    "text",
    [
        "Fair enough, I live where it never freezes.",
        "If it helps, you are the reason I wrote this.",
        "J’en ai toute une caisse.",
    ],
)
def test_telling_of_oneself_is_talk(text: str) -> None:
    assert chats(text)


@pytest.mark.parametrize("text", ["I take 10 days in the lowlands.", "Measured on my board:", "The membrane is wet."])
def test_a_figure_or_a_fact_is_not(text: str) -> None:
    assert not chats(text)
