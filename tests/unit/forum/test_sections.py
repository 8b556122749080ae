"""Documents are cut at headings, then between paragraphs, never longer than is embedded well."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clients.html_document import html_blocks, markdown_blocks, markdown_title
from forum.sections import Block, sections, slug


def cut(markdown: str, longest: int = 200) -> list[tuple[str, str, str]]:
    return [(one.heading, one.anchor, one.text) for one in sections(markdown_blocks(markdown), longest=longest)]


def test_each_heading_begins_a_section_under_the_headings_above_it() -> None:
    found = cut("# A\n\none\n\n## B c\n\ntwo\n\n# D\n\nthree")
    assert found == [("A", "a", "one"), ("A › B c", "b-c", "two"), ("D", "d", "three")]


def test_a_heading_without_text_gives_no_section() -> None:
    assert [heading for heading, _, _ in cut("# A\n\n## B\n\ntext")] == ["A › B"]


def test_paragraphs_stay_whole_where_they_fit() -> None:
    found = cut("# A\n\n" + "\n\n".join(f"paragraph {n} " + "x" * 80 for n in range(4)), longest=200)
    assert [text.count("paragraph") for _, _, text in found] == [2, 2]


def test_code_and_lists_keep_their_lines() -> None:
    [(_, _, text)] = cut("# A\n\n- one\n- two\n\n```\nx = 1\n\ny = 2\n```")
    assert "- one\n- two" in text
    assert "x = 1" in text


def test_a_page_begins_a_section() -> None:
    found = list(sections([Block(text="a", page=1, anchor="page=1"), Block(text="b", page=2, anchor="page=2")]))
    assert [(one.page, one.anchor) for one in found] == [(1, "page=1"), (2, "page=2")]


def test_html_is_read_without_its_navigation_and_scripts() -> None:
    html = "<body><nav>Menu</nav><main><h2 id='x1'>Tips</h2><div><p>One.</p><script>bad()</script></div></main></body>"
    assert [(one.heading, one.anchor, one.text) for one in sections(html_blocks(html))] == [("Tips", "x1", "One.")]


def test_html_in_markdown_is_text() -> None:
    assert cut("# A\n\n<script>alert(1)</script>")[0][2] == "<script>alert(1)</script>"


def test_the_title_is_the_front_matters_or_the_first_heading() -> None:
    assert markdown_title("---\ntitle: The manual\n---\n# Other\n") == "The manual"
    assert markdown_title("# Other\n") == "Other"


def test_an_anchor_is_what_markdown_renderers_make() -> None:
    assert slug("What's new in `2.0`?") == "whats-new-in-20"


@given(st.lists(st.text(max_size=400), max_size=8), st.integers(10, 120))
def test_no_section_is_longer_than_asked_and_no_word_is_lost(texts: list[str], longest: int) -> None:
    found = list(sections([Block(text=text) for text in texts], longest=longest))
    assert all(0 < len(one.text) <= longest for one in found)
    assert "".join("".join(one.text for one in found).split()) == "".join("".join(texts).split())
