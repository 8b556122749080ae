"""What a reply looks like without a source that is gone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.withdrawn import without_sources

A, B, C = (f"[[{n}]](https://f.example/t/x/{n}/1)" for n in (1, 2, 3))


def without(raw: str, *gone: int) -> str:
    return without_sources(raw, gone, note="NOTE", nothing_left="NOTHING")


@pytest.mark.parametrize(
    ("raw", "gone", "left"),
    [
        (f"One. {A} Two. {B}", [1], f"Two. {B}"),
        (f"One. {A} Two. {B}", [2], f"One. {A}"),
        (f"Both. {A} {B}", [1], f"Both. {B}"),
        (f"Both. {A}{B} Three. {C}", [1, 2], f"Three. {C}"),
        (f"- One. {A}\n- Two. {B}", [1], f"- Two. {B}"),
        (f"1. One. {A}\n2. Two. {B}", [2], f"1. One. {A}"),
        (f"> Said. {A}\n\nTwo. {B}", [1], f"Two. {B}"),
        (f"One. {A} And a thought of its own.\n\nTwo. {B}", [1], f"And a thought of its own.\n\nTwo. {B}"),
        ("One. [1] Two. [2]", [1], "Two. [2]"),
    ],
)
def test_a_passage_goes_when_all_its_markers_do(raw: str, gone: list[int], left: str) -> None:
    assert without(raw, *gone) == f"{left}\n\nNOTE"


def test_the_list_of_sources_loses_the_entry_with_its_quotation() -> None:
    raw = (
        f"One. {A} Two. {B}\n\n**Sources**\n\n- 1: [First](u1) (2020)\n  > one\n- 2: [Second](u2)\n  > two\n\nfeedback"
    )
    assert without(raw, 1) == f"Two. {B}\n\n**Sources**\n\n- 2: [Second](u2)\n  > two\n\nfeedback\n\nNOTE"


def test_a_reply_without_any_marker_left_says_so() -> None:
    assert without(f"One. {A}\n\n**Sources**\n\n- 1: [First](u1)\n  > one", 1) == "NOTHING"


def test_code_keeps_its_brackets() -> None:
    raw = f"Do this: {B}\n\n```\nrow[1] = [1]\n```\n\nOne. {A}"
    assert "row[1] = [1]" in without(raw, 1)


CODE = "```\nrow[1] = [1]\n```"


@pytest.mark.parametrize(
    ("raw", "left"),
    [
        (f"- Do this: {A}\n\n{CODE}\n\n- Or that: {B}", f"- Or that: {B}"),
        (f"- Do this: {A}\n\n{CODE}\n\n{CODE}\n\n- Or that: {B}", f"- Or that: {B}"),
        (f"- Do this: {A}\n\n{CODE}\n\n- Or that: {B}\n\n{CODE}", f"- Or that: {B}\n\n{CODE}"),
        (f"- First. {B} Do this: {A}\n\n{CODE}", f"- First. {B}"),
        (f"- First. {A} Do this: {B}\n\n{CODE}", f"- Do this: {B}\n\n{CODE}"),
        (f"- Both say: {A} {B}\n\n{CODE}", f"- Both say: {B}\n\n{CODE}"),
        (f"- Do this: {A}\n\n````\n```\nx\n````\n\n- Or that: {B}", f"- Or that: {B}"),
        (f"- Do this: {A}\n\nA word of its own:\n\n{CODE}\n\n- {B}", f"A word of its own:\n\n{CODE}\n\n- {B}"),
    ],
)
def test_the_code_below_a_passage_goes_with_it(raw: str, left: str) -> None:
    assert without(raw, 1) == f"{left}\n\nNOTE"


def test_the_note_stands_once_however_often_it_is_corrected() -> None:
    once = without(f"One. {A} Two. {B} Three. {C}", 1)
    assert without(once, 1) == once
    assert without(once, 2).count("NOTE") == 1


@given(st.lists(st.sampled_from(["word ", A, B, C, "\n", "- ", ". ", "> "]), max_size=30), st.sets(st.integers(1, 3)))
def test_no_gone_marker_is_left_and_no_other_one_is_lost(parts: list[str], gone: set[int]) -> None:
    raw = "".join(parts)
    left = without(raw, *gone)
    for n, marker in ((1, A), (2, B), (3, C)):
        assert left.count(marker) == (0 if n in gone else raw.count(marker)) or left == "NOTHING"
