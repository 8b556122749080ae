"""Clean text of hostile sizes and of ten thousand real posts."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from forum.cooked import tamed
from forum.mentions import own_mentions
from forum.text import clean

QUOTE = '<aside class="quote"><div class="title">x</div><blockquote>'

HOSTILE = {
    "3,000 nested quotes": QUOTE * 3_000 + "deep" + "</blockquote></aside>" * 3_000,
    "nested elements": "<div>" * 190_000,
    "attributes": "<p " + " ".join(f"a{number}=1" for number in range(100_000)) + ">",
    "unclosed formatting": "".join(f"<b a={number}>" for number in range(50_000)) + "<p>x" * 100_000,
    "unclosed tags in a small post": "".join(f"<b a={number}>" for number in range(490)) + "<p>x" * 500,
    "definition lists": "<dt><li>" * 120_000,
    "tables": "<table><tr><td>" * 60_000,
    "open attribute values": "<p a='\">" * 120_000,
    "open comments": "<!--" * 250_000,
    "open scripts": "<script>" * 120_000,
    "angle brackets": "<" * 1_000_000,
    "stray ends": "</b>" * 240_000,
    "words": "word " * 200_000,
    "code lines": "<pre>" + "line\n" * 190_000,
    "accents": "a" + "\u0301" * 900_000,
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_megabyte_of_broken_html_is_done_and_the_text_after_it_kept(name: str) -> None:
    # Each takes well under a second on a quiet core; the limit only tells linear from quadratic (minutes).
    closed = name in ("3,000 nested quotes", "words", "accents")
    text = clean(HOSTILE[name] + "<p>own</p>")
    assert text.endswith("own") if closed else len(text) <= 1_000_100
    own_mentions(HOSTILE[name])


def _real_posts(folder: Path) -> Iterator[str]:
    for archive in sorted((folder / "data").glob("*/*.jsonl.gz")):
        with gzip.open(archive, "rt", encoding="utf-8") as lines:
            for line in islice(lines, 0, None, 9):
                yield json.loads(line)["cooked"]


def test_ten_thousand_real_posts_are_cleaned_alike_with_and_without_taming(shared: Path) -> None:
    seen = empty = 0
    for cooked in islice(_real_posts(shared), 10_000):
        text = clean(cooked)
        seen += 1
        empty += not text
        assert clean(tamed(cooked)) == text
        assert 'class="' not in text or 'class="' in cooked.replace("<", "").replace("&quot;", '"')
    assert seen == 10_000
    assert empty < seen * 0.02
