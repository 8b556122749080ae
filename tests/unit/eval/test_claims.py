"""A posted reply taken apart into claims, judged without the product's own verifier."""

from __future__ import annotations

from eval.claims import claims, supported

A, B = "http://127.0.0.1:4200/t/rain/1/2", "http://127.0.0.1:4200/t/snow/3/4"
URLS = {A: 2, B: 4}
REPLY = f"""From the forum, word for word:

- It rains in May. [[1]]({A})
- Do this: [[2]]({B})
   - Wait [[2]]({B}) and see [[1]]({A}).

Nobody says this.

**Sources**

- 1: [Rain]({A}) (2026-01-01)
"""


def test_claims_end_at_their_markers_and_the_bots_own_voice_is_none() -> None:
    assert [(one.text, one.cited) for one in claims(REPLY, URLS)] == [
        ("It rains in May", (A,)),
        ("Do this:", (B,)),
        ("Wait", (B,)),
        ("and see", (A,)),
        ("Nobody says this", ()),
    ]


def test_word_for_word_is_supported() -> None:
    assert supported("It rains in May", "I think it rains  in May, mostly.")


def test_a_wrong_figure_is_not() -> None:
    assert not supported("Wait for 20 minutes at the gate", "Wait for 30 minutes at the gate.")


def test_other_words_are_not() -> None:
    assert not supported("Unicorns graze beside lighthouses", "It rains in May.")
