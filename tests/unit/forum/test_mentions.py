"""Who is mentioned, and who only seems to be."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forum.mentions import is_mentioned, own_mentions

BOT = "threadcite"
CYRILLIC = "\u0422hreadcite"
DOTTED = "threadc\u0130te"


def mention(name: str, href: str = "/u/x") -> str:
    return f'<a class="mention" href="{href}">@{name}</a>'


@pytest.mark.parametrize("name", ["threadcite", "THREADCITE", "Threadcite"])
def test_a_mention_in_any_case_counts(name: str) -> None:
    assert is_mentioned(f"<p>{mention(name)}. Thanks</p>", BOT)


def test_a_name_that_discourse_does_not_know_counts_too() -> None:
    assert is_mentioned('<p><span class="mention">@threadcite</span></p>', BOT)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_both_forms_of_a_non_ascii_name_count(form: str) -> None:
    cooked = '<p><a class="mention" href="/u/g%C3%A4rtner">@gärtner</a></p>'
    assert is_mentioned(cooked, unicodedata.normalize(form, "gärtner"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "cooked",
    [
        "<p>mail jane@threadcite.example</p>",
        f"<p>{mention('threadcite-dev')} please</p>",
        f"<p>{mention('threadcite2')}</p>",
        f"<p>{mention(CYRILLIC)}</p>",
        "<p>@threadcite</p>",
        f"<p><code>{mention('threadcite')}</code></p>",
        f"<pre>{mention('threadcite')}</pre>",
        f'<aside class="quote"><div class="title">{mention("threadcite")}</div></aside><p>hi</p>',
        f'<aside class="onebox"><h3>{mention("threadcite")}</h3></aside>',
        f'<details class="elided">{mention("threadcite")}</details>',
        '<p><a class="mention-group" href="/groups/threadcite">@threadcite</a></p>',
        '<p><a href="/u/threadcite">@threadcite</a></p>',
        f"<p>{mention('someone', '/u/threadcite')}</p>",
    ],
)
def test_what_only_looks_like_a_mention_does_not_count(cooked: str) -> None:
    assert not is_mentioned(cooked, BOT, raw="@threadcite")


def test_a_dotted_capital_i_is_not_an_i() -> None:
    assert not is_mentioned(f"<p>{mention(DOTTED)}</p>", BOT)


def test_all_who_are_mentioned_are_found_folded() -> None:
    assert own_mentions(f"<p>{mention('Ann')} {mention('BOB')}{mention('')}</p>") == {"ann", "bob"}


def test_a_mention_in_the_authors_own_block_quote_counts() -> None:
    assert is_mentioned(f"<blockquote><p>{mention('threadcite')}</p></blockquote>", BOT)


@pytest.mark.parametrize(
    "raw",
    [
        "@threadcite how?",
        "Hi @THREADCITE.",
        "(@threadcite)",
        "**@threadcite**",
        "a `code` @threadcite",
        "_@threadcite_",
    ],
)
def test_raw_is_read_when_nothing_is_cooked(raw: str) -> None:
    assert is_mentioned("", BOT, raw)


@pytest.mark.parametrize(
    "raw",
    [
        None,
        "jane@threadcite.example",
        "@threadcite-dev",
        "@threadcite2 @threadcite.example",
        "`@threadcite`",
        "``a ` @threadcite``",
        "```\n@threadcite\n```",
        "~~~ text\n@threadcite",
        '[quote="ann, post:1"]\n[quote]x[/quote]\n@threadcite\n[/quote]',
        "[code]@threadcite[/code]",
        "https://x.example/@threadcite",
        "<pre>@threadcite</pre>",
    ],
)
def test_raw_is_read_carefully(raw: str | None) -> None:
    assert not is_mentioned(" ", BOT, raw)


@given(st.text(max_size=300))
def test_no_text_makes_reading_mentions_fail(text: str) -> None:
    own_mentions(text)
    is_mentioned("", BOT, text)
