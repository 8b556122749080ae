"""What a question itself wrote is not what the forum knows, and a slip of the pen finds the word that was meant."""

from __future__ import annotations

from clients.postgres.index import PostgresIndex
from forum.types import Scope
from tests.integration.retrieval.conftest import Write

_POSTS = [
    (1, "Battery in winter", "The lithium battery loses charge below zero"),
    (2, "Charging", "A lithium battery is charged at a constant voltage"),
    (3, "Zeppelin", "My zeppelin has a lithium battery"),
]
_NOT_OWN = Scope(exclude_topic_ids=frozenset((3,)))


def test_words_of_its_own_topic_are_unknown(index: PostgresIndex, write: Write) -> None:
    write(_POSTS)
    asked = {scope: index.matches([1], text="zeppelin", vector=None, scope=scope)[1] for scope in (Scope(), _NOT_OWN)}
    assert (asked[Scope()].unknown, asked[_NOT_OWN].unknown) == (0.0, 1.0)


def test_words_of_the_asking_post_are_unknown(index: PostgresIndex, write: Write) -> None:
    write(_POSTS)
    scope = Scope(exclude_post_ids=frozenset((3,)))
    assert index.matches([1], text="zeppelin", vector=None, scope=scope)[1].unknown == 1.0


def test_a_misspelled_word_finds_its_posts(index: PostgresIndex, write: Write) -> None:
    write(_POSTS)
    assert {hit.topic_id for hit in index.keyword("litium", limit=5, scope=_NOT_OWN)} == {1, 2}


def test_a_misspelled_word_is_not_unknown(index: PostgresIndex, write: Write) -> None:
    write(_POSTS)
    assert index.matches([1], text="litium bateri", vector=None, scope=_NOT_OWN)[1].unknown == 0.0
