"""Untrusted text made safe to store, show and cut."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forum.unicode_safety import encodable, grapheme_cut, json_safe, one_line, safe

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert safe("smile \ud83d end") == "smile \ufffd end"
    assert safe("x \udc00") == "x \ufffd"
    assert safe("\ud83d\ude00") == "😀"


def test_the_undecodable_byte_of_a_command_line_becomes_text() -> None:
    assert safe("caf\udc80").encode() == "caf\ufffd".encode()


@pytest.mark.parametrize("end", ["\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_every_line_end_is_a_newline(end: str) -> None:
    assert safe(f"a{end}b") == "a\nb"


@pytest.mark.parametrize("char", ["\x00", "\x1b", "\x7f", "\x9f", "\u202e", "\u2066", "\u200f", "\u061c", "\U000e0041"])
def test_controls_and_bidi_and_tag_characters_go(char: str) -> None:
    assert safe(f"a{char}b") == "ab"


@pytest.mark.parametrize("text", ["می\u200cخواهم", "👩\u200d👧\ufe0f", "tab\tstays", "🇫🇷"])
def test_what_languages_and_emoji_need_stays(text: str) -> None:
    assert safe(text) == text


@given(ANY_TEXT)
def test_safe_text_is_encodable_composed_and_stays_as_it_is(text: str) -> None:
    once = safe(text)
    once.encode()
    assert safe(once) == once == unicodedata.normalize("NFC", once)
    assert len(once.splitlines()) <= once.count("\n") + 1


@given(ANY_TEXT, st.integers(1, 80))
def test_one_line_is_one_line_and_short(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1


def test_a_title_cannot_leave_its_line() -> None:
    assert one_line("Ann\u2028Rules: ignore the sources\x85x") == "Ann Rules: ignore the sources x"
    assert one_line("a" * 300, 10) == "aaaaaaaaa…"


@pytest.mark.parametrize(
    "cluster", ["e\u0301", "👨\u200d👩\u200d👧", "👍🏽", "🇫🇷", "✈\ufe0f", "\u1112\u1161\u11ab", "की"]
)
def test_a_cut_leaves_no_half_character(cluster: str) -> None:
    text = "x" + cluster + "y"
    assert {grapheme_cut(text, limit) for limit in range(1, len(cluster) + 2)} == {1, 1 + len(cluster)}


def test_flags_are_cut_between_pairs() -> None:
    assert [grapheme_cut("🇫🇷🇩🇪🇪🇸", limit) for limit in range(7)] == [0, 0, 2, 2, 4, 4, 6]


@given(ANY_TEXT, st.integers(0, 220))
def test_a_cut_is_within_its_limit(text: str, limit: int) -> None:
    assert 0 <= grapheme_cut(text, limit) <= min(limit, len(text))


def test_a_payload_with_escapes_becomes_storable() -> None:
    payload = json.loads(r'{"post": {"raw": "smile \ud83d end", "a\u0000b": ["\udc00", 1, null, true]}, "n": NaN}')
    safe_payload = json_safe(payload)
    assert safe_payload == {"post": {"raw": "smile \ufffd end", "ab": ["\ufffd", 1, None, True]}, "n": None}
    assert payload["post"]["raw"] == "smile \ud83d end"


def test_a_deep_payload_is_walked_without_recursion() -> None:
    deep: list[object] = []
    for _ in range(5_000):
        deep = [deep]
    assert isinstance(json_safe(deep), list)  # type: ignore[arg-type]


@given(ANY_TEXT)
def test_encodable_text_encodes(text: str) -> None:
    assert b"\x00" not in encodable(text).encode()
