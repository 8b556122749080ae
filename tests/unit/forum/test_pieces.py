"""A post's clean text taken apart into what can be quoted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from forum.pieces import Kind, pieces

POST = """It is exact if you do it right:

1. Crushed ice. No salt.
2. Stir, wait 20 minutes.

- a syringe;

sudo systemctl stop loggia
sudo -u loggia loggia passwd --user admin

part | mA
A2 | 0.1

That is 0.00 °C. Write it down."""


def kinds(text: str) -> list[tuple[str, str]]:
    return [(piece.kind.value, piece.text) for piece in pieces(text)]


def test_sentences_items_steps_code_and_tables() -> None:
    assert kinds(POST) == [
        ("sentence", "It is exact if you do it right:"),
        ("step", "Crushed ice. No salt."),
        ("step", "Stir, wait 20 minutes."),
        ("item", "a syringe;"),
        ("code", "sudo systemctl stop loggia\nsudo -u loggia loggia passwd --user admin"),
        ("code", "part | mA\nA2 | 0.1"),
        ("sentence", "That is 0.00 °C."),
        ("sentence", "Write it down."),
    ]


def test_a_config_block_is_code() -> None:
    assert kinds('[hygro]\nheater = "20s"   # seconds')[0][0] == "code"


def test_prose_with_a_figure_and_brackets_is_prose() -> None:
    assert kinds("The QR code is brilliant. (And no thanks, Ann.)")[0][0] == "sentence"
    assert kinds("65535 = no valid frame, so the sensor is not read at all in this case.")[0][0] == "sentence"


@given(st.text(alphabet="ab .\n-1|=()é", max_size=200))
def test_every_piece_stands_in_the_text_where_it_says_and_none_overlap(text: str) -> None:
    end = 0
    for piece in pieces(text):
        assert text[piece.start : piece.end] == piece.text
        assert piece.start >= end
        assert piece.text.strip()
        end = piece.end


def test_indented_code_keeps_its_indent() -> None:
    assert kinds("def f(x):\n    return x;\n\n    y = 2")[1] == (Kind.CODE.value, "    y = 2")
