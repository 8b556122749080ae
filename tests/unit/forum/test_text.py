"""Clean text: what of a post stays and what goes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forum.cooked import tamed
from forum.text import clean, excerpt, own_question, prose

QUOTE = '<aside class="quote no-group"><div class="title">ann:</div><blockquote>{}</blockquote></aside>'


def test_forum_quotes_go_and_the_own_text_after_them_stays() -> None:
    nested = QUOTE.format("<p>outer</p>" + QUOTE.format("<p>inner</p><pre><code>quoted code</code></pre>"))
    assert clean(nested + "<p>own</p>") == "own"


def test_an_unclosed_quote_runs_to_the_end() -> None:
    assert clean('<p>own</p><aside class="quote"><blockquote>theirs') == "own"


def test_the_authors_own_block_quote_stays() -> None:
    assert clean("<p>The log:</p><blockquote><p>disk full</p></blockquote>") == "The log:\n\ndisk full"


def test_details_and_spoilers_stay() -> None:
    cooked = (
        "<details><summary>Fix</summary><pre><code>x &lt; y</code></pre></details>"
        '<p><span class="spoiler">it was the cable</span></p>'
    )
    assert clean(cooked) == "Fix\n\nx < y\n\nit was the cable"


def test_code_keeps_its_lines_and_indentation() -> None:
    code = "  for x in y:\n      print(x)\n\n\n  done"
    assert clean(f'<p>See</p><pre><code class="lang-python">{code}\n</code></pre>') == f"See\n\n{code}"


def test_breaks_lists_and_tables_keep_their_shape() -> None:
    assert clean("<p>a<br>b</p>") == "a\nb"
    assert clean("<ul><li>a</li><li><p>b</p><ol><li>c</li></ol></li></ul><p>d</p>") == "- a\n- b\n  1. c\n\nd"
    assert clean('<ol start="3"><li>c</li><li>d<ul><li>x</li></ul></li><li>e</li></ol>') == "3. c\n4. d\n  - x\n5. e"
    row = "<tr><td>x</td><td></td><td>1<br>2</td></tr>"
    assert clean(f"<table><tr><th>A</th><th>B</th></tr>{row}</table>") == "A | B\nx | | 1 2"


def test_link_text_stays_and_the_address_goes() -> None:
    assert clean('<p>see <a href="https://x.example/y">the guide</a>.</p>') == "see the guide."


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<img class="emoji" alt=":smile:">', ""),
        ('<img class="emoji only-emoji" alt=":tada:">', ""),
        ('<img alt="Memory use over a week">', "Memory use over a week"),
        ('<img alt="image">', ""),
        ('<img alt="Screenshot 2021-03-04 at 10.11.12">', ""),
        ('<img alt="a7db5ccb84e26a8b0858593af5eeb19d.png">', ""),
        ('<img alt="imagery of the liver">', "imagery of the liver"),
        ('<a class="lightbox"><img alt="Wiring"><div class="meta">w.png 690×388</div></a>', "Wiring"),
        ("<img>", ""),
    ],
)
def test_images_leave_their_description(html: str, text: str) -> None:
    assert clean(f"<p>{html}</p>") == text


@pytest.mark.parametrize(
    "html",
    [
        '<aside class="onebox githubblob"><header>github.com</header><pre class="onebox">x</pre></aside>',
        '<div class="poll"><ul><li>yes</li></ul></div>',
        '<details class="elided"><summary>···</summary>On Monday you wrote</details>',
        '<div class="lazyYT">A video</div>',
        "<svg><title>icon</title></svg>",
        "<script>alert(1)</script>",
        "<!-- a comment -->",
        "<details><summary>Inner Thoughts</summary>the prompt</details>",
        "<p>(post deleted by author)</p>",
        "<p>(topic withdrawn by author, will be automatically deleted in 24 hours unless flagged)</p>",
    ],
)
def test_furniture_and_stubs_go(html: str) -> None:
    assert clean(html) == ""


def test_a_link_whose_preview_failed_is_the_authors_own() -> None:
    assert clean('<p><a class="onebox" href="https://x.example">https://x.example</a></p>') == "https://x.example"


def test_entities_are_decoded_once() -> None:
    assert clean("<p>a &amp;lt; b &lt;i&gt; &eacute;</p>") == "a &lt; b <i> é"


def test_a_raised_power_is_not_read_as_more_digits() -> None:
    assert clean("<p>10<sup>-6</sup> and the 1<sup>st</sup></p>") == "10⁻⁶ and the 1st"


def test_footnote_marks_go_and_the_note_stays() -> None:
    cooked = (
        '<p>true<sup class="footnote-ref"><a href="#f1">[1]</a></sup></p><ol class="footnotes-list">'
        '<li class="footnote-item"><p>since 2.8 <a class="footnote-backref">↩︎</a></p></li></ol>'
    )
    assert clean(cooked) == "true\n\n1. since 2.8"


def test_the_text_is_composed_encodable_and_hides_nothing() -> None:
    assert clean("<p>e\u0301 \ud83d end \u202eevil\u202c \U000e0041&#0;</p>") == "é \ufffd end evil \ufffd"
    assert clean("<p>نمی\u200cخواهم 👩\u200d👧</p>") == "نمی\u200cخواهم 👩\u200d👧"


def test_prose_leaves_the_code_out() -> None:
    assert prose("<p>Bonjour, <code>is not None</code> ?</p><pre><code>for x in y</code></pre>") == "Bonjour, ?"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<p><a class="mention" href="/u/bot">@Bot</a>, how do I start?</p>', "how do I start?"),
        ('<p>Hey <a class="mention" href="/u/bot">@bot</a>: why?</p>', "Hey why?"),
        ('<p>Any idea, <span class="mention">@bot</span>?</p>', "Any idea,?"),
        ('<p><a class="mention" href="/u/bot">@bot</a></p>', ""),
        ('<p><a class="mention" href="/u/ann">@ann</a> and <a class="mention">@bot</a></p>', "@ann and"),
    ],
)
def test_the_question_is_the_text_without_the_bots_mention(html: str, text: str) -> None:
    assert own_question(html, "bot") == text


def test_an_excerpt_is_a_verbatim_piece() -> None:
    text = "The quick brown fox jumps over the lazy dog and runs away from the hounds"
    piece = excerpt(text, 30, around="lazy dog")
    assert "lazy dog" in piece
    assert piece in text
    assert len(piece) <= 30
    assert excerpt(text, 12) == "The quick"


def test_an_excerpt_never_cuts_an_emoji_in_half() -> None:
    family = "👨\u200d👩\u200d👧\u200d👦"
    for limit in range(1_999, 2_006):
        assert excerpt("a" * 1_999 + family, limit) == "a" * 1_999
    assert excerpt("a" * 1_999 + family, 2_006).endswith(family)


TAGS = st.sampled_from(
    "<p> </p> <div> </div> <b> </b> <a href='x'> </a> <ul> <li> </ul> <table> <tr> <td> </table> <pre> </pre> <code>"
    " </code> <aside class='quote'> </aside> <blockquote> </blockquote> <sup> </sup> <br> <img alt='x'> <details>"
    " <summary> </details> <script> </script> <!-- --> <svg> </svg> <select> <option> <math> <dt> <textarea>".split()
)
SOUP = st.lists(st.one_of(TAGS, st.text(st.characters(exclude_characters="<>&"), max_size=8)), max_size=40).map("".join)


@given(SOUP)
def test_no_tag_or_control_comes_out_of_any_soup(soup: str) -> None:
    text = clean(soup)
    assert not re.search("[<\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", text)
    assert text == text.rstrip()
    assert not text.startswith("\n")


@given(st.text(max_size=400))
def test_anything_at_all_is_cleaned_without_an_error(text: str) -> None:
    clean(text).encode()


@given(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=60))
def test_plain_words_come_out_as_they_are(word: str) -> None:
    once = clean(f"<p>{word}</p>")
    assert clean(f"<p>{once}</p>") == once


@given(SOUP)
def test_taming_twice_changes_nothing_more(soup: str) -> None:
    assert tamed(tamed(soup)) == tamed(soup)
