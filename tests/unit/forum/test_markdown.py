"""Untrusted Markdown comes out inert: whatever goes in, only our own citation links are links."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from forum.markdown import MARK, escape, parse, plain, serialize

LINKS = {1: "https://forum.example/t/a/1/2", 2: "https://forum.example/t/b/2/3"}
COOK = MarkdownIt("commonmark", {"html": True, "linkify": True}).enable(["table", "strikethrough", "linkify"])

WILD = st.text(
    st.sampled_from(list("[]()<>!`*_~|#@&:;/\\\n\t -+=.123abcXYZé\u2028\u202e\u200b\ud83d\x00\x01\x03"))
    | st.characters(),
    max_size=120,
) | st.lists(
    st.sampled_from(
        [
            "[[1]]",
            "[[2]]",
            "[[7]]",
            "[1]",
            "[[1, 2]]",
            "](https://evil.example)",
            "[x](https://evil.example)",
            "\n\n",
            "![i](https://evil.example/p.png)",
            "<img src=x onerror=alert(1)>",
            "<a href='https://evil.example'>",
            "`",
            "```",
            "@admin",
            "@here",
            "https://evil.example/?q=1",
            "www.evil.com",
            "evil.com/path",
            "//evil.com",
            "[1]: https://evil.example",
            "javascript:alert(1)",
            "[poll]\n- a\n[/poll]",
            '[quote="bob, post:1, topic:2"]',
            "a@evil.com",
            "\n> ",
            "\n- ",
            "\n1. ",
            "<https://evil.example>",
            "&lt;b&gt;",
            "&#64;admin",
            "#general",
            ":smile:",
            "\\",
            "<!--",
            "-->",
            "<script>",
            "    ",
            "|",
            "---\n",
        ]
    ),
    max_size=25,
).map("".join)


def cooked_tokens(markdown: str) -> list[tuple[str, str]]:
    """(kind, value) of everything active in the cooked text, and its plain text outside code."""
    found: list[tuple[str, str]] = []
    for token in COOK.parse(markdown):
        if token.type == "html_block":
            found.append(("html", token.content))
        for child in token.children or []:
            match child.type:
                case "link_open":
                    found.append(("link", str(child.attrGet("href"))))
                case "image" | "html_inline":
                    found.append((child.type, child.content))
                case "text":
                    found.append(("text", child.content))
    return found


@settings(max_examples=1500, deadline=None)
@given(WILD)
@example("[[1]](https://evil.example) ![[[2]]](https://evil.example)")
@example("[\\[1\\]](https://evil.example)\n\n[[1]]: https://evil.example")
@example("`@a` ``@b`` @c `[[1]]`@d")
@example("@a@b@c.com#d:e:f")
def test_nothing_active_survives_but_our_links(wild: str) -> None:
    out = serialize(parse(wild, sources=2), LINKS)
    for kind, value in cooked_tokens(out):
        assert kind in ("link", "text"), (kind, value, out)
        if kind == "link":
            assert value in LINKS.values(), (value, out)
        else:
            assert not re.search(r"(?<!\w)@\w", value), (value, out)
    assert not re.search(r"[\x00-\x08\u202e\u2028\ud800-\udfff]", out)


@settings(max_examples=600, deadline=None)
@given(WILD)
def test_an_escaped_title_is_one_link_that_shows_its_characters(wild: str) -> None:
    title = escape(wild, keep_addresses=True).strip()
    cooked = cooked_tokens(f"- [{title or 'x'}]({LINKS[1]})")
    assert [value for kind, value in cooked if kind == "link"] == [LINKS[1]]
    assert not [value for kind, value in cooked if kind not in ("link", "text")]


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        ("It is so [[1]].", [1]),
        ("It is so [1].", [1]),
        ("It is so [[1, 2]].", [1, 2]),
        ("It is so [[1]][[2]].", [1, 2]),
        ("It is so [1][2].", [1, 2]),
        ("It is so [1, 2].", [1, 2]),
        ("It is so [^2].", [2]),
        ("It is so 【1】.", [1]),
        ("It is so [[7]].", []),
        ("It is so [[0]].", []),
        ("It is so (1).", []),
        ("Take `row[[1]]` and a[1].", []),
        ("It is so [[1]](https://evil.example).", [1]),
    ],
)
def test_markers_as_models_write_them(written: str, numbers: list[int]) -> None:
    (block,) = parse(written, sources=2)
    assert [int(n) for n in MARK.findall(block.text)] == numbers
    assert "[[7" not in plain(block.text)


def test_code_keeps_its_text_and_loses_nothing() -> None:
    source = "Do:\n\n```python\nprint('[[1]] @x https://a.example')\n```"
    assert serialize(parse(source, sources=2), LINKS) == source


def test_lists_keep_their_shape() -> None:
    assert serialize(parse("1. one [[1]]\n2. two\n   - deep", sources=2), {1: "/t/1"}).splitlines() == [
        "1. one [[1]](/t/1)",
        "1. two",
        "   - deep",
    ]


@pytest.mark.parametrize("name", ["rain.mm", "rain.mm_per_tip", "config.py", "a.shop", "dry.It"])
def test_a_name_that_a_forum_may_take_for_a_host_is_shown_as_code(name: str) -> None:
    assert escape(f"Set {name} now.") == f"Set `{name}` now."


def test_shortened_words_and_numbers_are_no_hosts() -> None:
    assert escape("E.g. at 3.5 m, i.e. 9 p.m.") == "E.g. at 3.5 m, i.e. 9 p.m."
