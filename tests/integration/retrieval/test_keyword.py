"""The keyword channel on a real Postgres: odd questions, tiny forums, and BM25's own order."""

from __future__ import annotations

import pytest

from clients.postgres.index import PostgresIndex
from forum.terms import terms
from forum.types import Scope
from tests.integration.retrieval.conftest import Write

_POSTS = [
    (1, "Pets", "The dog and the cat share one blanket"),
    (2, "Release notes", "Version v3.2.1 mends the installer"),
    (3, "Settings", "Put the line into foo/bar_baz.conf and restart"),
    (4, "Languages", "We write C++ here, and a little C# for the tools"),
    (5, "Le guide", "L'installation sous Linux demande un pilote"),
    (6, "Order", "The part number is 23-2011.00 in the catalogue"),
    (7, "Other", "Nothing to see in this one"),
]
_ODD = [
    "What's X?",
    "C++ & C#",
    "foo | !bar",
    "a:*",
    ":'(",
    "((",
    "it''s",
    "dog cat",
    "dog,cat",
    "dog , cat",
    "c'est",
    "l’installation",
    "23-2011.00",
    "v3.2.1",
    "foo/bar_baz.conf",
    "-install",
    '"unclosed',
    "",
    " \x00\n",
    "🙂",
    "\\",
    "%s %(x)s {dims}",
]


def _topics(index: PostgresIndex, question: str) -> list[int]:
    return [hit.topic_id for hit in index.keyword(question, limit=25, scope=Scope())]


@pytest.mark.parametrize("question", _ODD)
def test_no_question_is_an_error(index: PostgresIndex, write: Write, question: str) -> None:
    write(_POSTS)
    _topics(index, question)


def test_punctuation_between_words_changes_nothing(index: PostgresIndex, write: Write) -> None:
    write(_POSTS)
    assert _topics(index, "dog cat") == _topics(index, "dog,cat") == _topics(index, "dog , cat") == [1]


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("v3.2.1", 2),
        ("foo/bar_baz.conf", 3),
        ("C++", 4),
        ("C#", 4),
        ("l’installation", 5),
        ("23-2011.00", 6),
        ("-restart", 3),
    ],
)
def test_names_with_signs_find_their_post(index: PostgresIndex, write: Write, question: str, topic: int) -> None:
    write(_POSTS)
    assert _topics(index, question)[0] == topic


def test_one_odd_character_does_not_ask_for_all_words(index: PostgresIndex, write: Write) -> None:
    write(_POSTS)
    assert set(_topics(index, "(catalogue & blanket | !nothingofthekind")) == {1, 6}


def test_an_empty_forum_finds_nothing(index: PostgresIndex) -> None:
    assert _topics(index, "anything") == []
    assert index.size() == 0


def test_a_forum_of_one_image_finds_nothing(index: PostgresIndex, write: Write) -> None:
    write([(1, "Picture", "<img src='/a.png'>")])
    assert isinstance(_topics(index, "what is on the picture"), list)


def test_a_word_of_half_of_the_posts_finds_both(index: PostgresIndex, write: Write) -> None:
    write([(1, "a", "rust on the chain"), (2, "b", "chain grease"), (3, "c", "saddle"), (4, "d", "bell")])
    assert set(_topics(index, "chain")) == {1, 2}


def test_the_only_post_is_found_by_its_own_text(index: PostgresIndex, write: Write) -> None:
    write([(1, "Solo", "rust on the chain")])
    assert _topics(index, "rust on the chain") == [1]


def test_a_word_of_all_posts_finds_all(index: PostgresIndex, write: Write) -> None:
    write([(n, f"t{n}", f"chain number {n}") for n in range(1, 5)])
    assert len(_topics(index, "chain")) == 4


def test_the_order_is_bm25okapis(index: PostgresIndex, write: Write) -> None:
    rank_bm25 = pytest.importorskip("rank_bm25", reason="needs the `eval` extra")
    posts = [
        (1, "one", "the valve leaks oil when the valve is cold"),
        (2, "two", "oil the hinge"),
        (3, "three", "a cold morning with a long walk by the river and some bread to eat on the way home"),
        (4, "four", "valve"),
        (5, "five", "bread and butter"),
        (6, "six", "river walk"),
        (7, "seven", "hinge and door"),
        (8, "eight", "door bell"),
    ]
    write(posts)
    question = "cold valve oil, valve"
    bodies = [terms(f"{title} {text}") for _, title, text in posts]
    scores = rank_bm25.BM25Okapi(bodies).get_scores(terms(question))
    expected = [n for _, n in sorted(zip(-scores, range(1, 9), strict=True)) if scores[n - 1] > 0]
    assert _topics(index, question) == expected
