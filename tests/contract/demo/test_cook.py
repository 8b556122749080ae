"""Markdown is cooked into Discourse's HTML, and nothing in it can harm a reader."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from demo.cook import Linked, cook


class Names:
    """A forum with the members ada and gärtner, the group staff, the category kites and one topic, 10."""

    def username(self, name: str) -> str | None:
        return name.lower() if name.lower() in ("ada", "gärtner") else None

    def group(self, name: str) -> str | None:
        return "staff" if name.lower() == "staff" else None

    def category(self, slug: str) -> tuple[int, str] | None:
        return (1, "Kites") if slug == "kites" else None

    def linked(self, topic_id: int, post_number: int) -> Linked | None:
        shown = Linked(title="Kites & <lines>", slug="kites-lines", username="ada", excerpt="An excerpt")
        return shown if topic_id == 10 else None


def html(raw: str) -> str:
    return cook(raw, Names(), topic_id=10)


@pytest.mark.parametrize(
    ("raw", "has"),
    [
        ("hello @ADA.", '<a class="mention" href="/u/ada">@ADA</a>.'),
        ("hello @nobody", '<span class="mention">@nobody</span>'),
        ("hello @ada-dev", '<span class="mention">@ada-dev</span>'),
        ("hello @ga\u0308rtner", '<a class="mention" href="/u/g%C3%A4rtner">@gärtner</a>'),
        ("hello @staff", '<a class="mention-group notify" href="/groups/staff">@staff</a>'),
        ("mail jane@ada.example", "<p>mail jane@ada.example</p>"),
        ("`@ada`", "<p><code>@ada</code></p>"),
        ("[@ada](https://a.example)", '<p><a href="https://a.example">@ada</a></p>'),
        (
            "```python\nx < y @ada\n```",
            '<pre data-code-wrap="python"><code class="lang-python">x &lt; y @ada\n</code></pre>',
        ),
        ("good :smile: day", 'class="emoji" alt=":smile:"'),
        ("a ratio of 10:20:30", "<p>a ratio of 10:20:30</p>"),
        ("see #kites", 'href="/c/kites/1" data-type="category"'),
        ("two\nlines", "<p>two<br>\nlines</p>"),
        ("before <!-- secret --> after", "<p>before  after</p>"),
        ("<!-- secret -->\n\nafter", "<p>after</p>"),
        ("press <kbd>x</kbd>", "<p>press <kbd>x</kbd></p>"),
        ("https://a.example/some-page", '<aside class="onebox allowlistedgeneric"'),
        ("in https://a.example/some-page text", '<a href="https://a.example/some-page" rel="noopener nofollow ugc">'),
        ("/t/x/10/3", '<aside class="quote" data-post="3" data-topic="10">'),
        ("http://127.0.0.1:4200/t/x/10", '<a href="/t/kites-lines/10/1">Kites &amp; &lt;lines&gt;</a>'),
        ("/t/x/11/3", "<p>/t/x/11/3</p>"),
        ("![a cat|690x300, 50%](upload://abc.png)", 'alt="a cat" data-base62-sha1="abc" width="690" height="300"'),
        ('[details="More"]\ntext\n[/details]', "<details>\n<summary>\nMore</summary>\n<p>text</p>\n</details>"),
        ("[spoiler]\ntext\n[/spoiler]", '<div class="spoiler">\n<p>text</p>\n</div>'),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "<td>1</td>"),
        ("[quote]\nnever closed", "[quote]"),
    ],
)
def test_markdown_becomes_discourses_html(raw: str, has: str) -> None:
    assert has in html(raw)


def test_a_quote_is_an_aside_and_the_text_after_it_stays_outside() -> None:
    cooked = html('[quote="ada, post:2, topic:10"]\ninner\n[quote="bo, post:1"]\ndeep\n[/quote]\n[/quote]\n\nown words')
    tree = LexborHTMLParser(cooked)
    outer = tree.css("aside.quote")
    assert len(outer) == 2
    assert outer[0].attributes["data-username"] == "ada"
    assert (outer[0].attributes["data-post"], outer[0].attributes["data-topic"]) == ("2", "10")
    assert "own words" not in (outer[0].text() or "")


def test_what_would_harm_a_reader_is_shown_as_text() -> None:
    cooked = html("<script>alert(1)</script> <img src=x onerror=1> [a](javascript:alert(1)) <div onclick=x>")
    tree = LexborHTMLParser(cooked)
    assert tree.css("script, img, a, div") == []


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["[quote]\n", "\n[/quote]\n", '[quote="a\' onx=1, post:2"]\n', "<b>", "</b>", "<!--", "-->", "<img src=x>"]
            + [
                "@ada ",
                "`",
                "```\n",
                "> ",
                "- ",
                "[x](",
                "javascript:1)",
                "![",
                "](",
                ")",
                ":smile:",
                "|",
                "\n\n",
                "&lt;",
            ]
            + [
                "<script>",
                '"',
                "'",
                'https://a.example/"onmouseover=1',
                'upload://a"b',
                '[details="x" y]\n',
                "[/details]",
            ]
        ),
        max_size=30,
    ).map("".join)
)
def test_no_text_yields_a_script_a_handler_or_a_dangerous_link(raw: str) -> None:
    tree = LexborHTMLParser(f"<body>{html(raw)}</body>")
    assert tree.css("script, iframe, object, style, form, svg") == []
    for node in tree.css("*"):
        assert [name for name in node.attributes if name.startswith("on")] == []
        for name in ("href", "src"):
            assert not (node.attributes.get(name) or "").strip().lower().startswith(("javascript:", "data:"))


@pytest.mark.parametrize(
    "part", ["[quote]\n", '[quote="a"]\n> ', "[quote]\nx\n[/quote]\n", "*a ", "> ", "<b>", "@ada "]
)
def test_long_and_odd_texts_are_cooked_without_an_error(part: str) -> None:
    assert html((part * 32_000)[:32_000])
