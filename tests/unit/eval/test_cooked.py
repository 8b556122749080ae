"""What must not be in a reply is seen once it is cooked."""

from __future__ import annotations

import pytest

from eval.cooked import forbidden, plain_text

OURS = "http://127.0.0.1:4200/t/rain/1/2"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("see [this](https://evil.example)", "links"),
        ("see https://evil.example now", "links"),
        ("see www.evil.com now", "links"),
        ("<https://evil.example>", "links"),
        ("![x](https://evil.example/p.png)", "images"),
        ("<img src=x onerror=1>", "html"),
        ("a <b>bold</b> word", "html"),
        ("[quote=ann]x[/quote]", "html"),
        ("ask @admins", "mentions"),
        ("look in #staff", "mentions"),
        ("fine :rocket:", "mentions"),
        ("a\u202eb", "unseen"),
        ("a\U000e0041b", "unseen"),
    ],
)
def test_what_is_forbidden_is_counted(reply: str, kind: str) -> None:
    assert forbidden(reply, {OURS}).counts()[kind] >= 1


@pytest.mark.parametrize(
    "reply", [f"It rains [[1]]({OURS}).", "`@admins` and `https://evil.example`", "50 % of #1, C:\\x:y", "a \\<b\\> c"]
)
def test_what_is_allowed_is_not(reply: str) -> None:
    assert not forbidden(reply, {OURS})


def test_a_readers_view_of_a_reply() -> None:
    assert plain_text("**Dry** it\\. `now`\n\n```\nx = 1\n```") == "Dry it. now\n\nx = 1\n"
