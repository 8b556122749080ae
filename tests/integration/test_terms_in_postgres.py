"""Whatever the text, Postgres takes our terms and finds the post by them."""

from __future__ import annotations

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forum.terms import query_terms, terms, tsquery, tsvector_literal

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=120)
MATCH = "SELECT %s::tsvector @@ %s::tsquery"


@pytest.fixture(scope="module")
def connection(postgres_url: str) -> psycopg.Connection:
    return psycopg.connect(postgres_url, autocommit=True)


def found(connection: psycopg.Connection, text: str, question: str) -> bool:
    row = connection.execute(MATCH, (tsvector_literal(terms(text))[0], tsquery(query_terms(question)))).fetchone()
    return bool(row and row[0])


@pytest.mark.parametrize(
    "question",
    [
        "v3.2.1",
        "3.2.1",
        "foo/bar_baz.conf",
        "C++ & C#",
        "l’installation",
        "23-2011.00",
        "foo | !bar",
        "-install",
        '"conf',
    ],
)
def test_a_question_with_odd_characters_finds_the_post(connection: psycopg.Connection, question: str) -> None:
    post = "In foo/bar_baz.conf of v3.2.1 (23-2011.00) the installation of C++ and C# needs conf, foo and the install"
    assert found(connection, post, question)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=ANY_TEXT, question=ANY_TEXT, term=ANY_TEXT)
def test_postgres_takes_the_terms_of_any_text(
    connection: psycopg.Connection, text: str, question: str, term: str
) -> None:
    found(connection, text, question)
    found(connection, text + term, term)
    connection.execute(MATCH, (tsvector_literal([term, text])[0], tsquery([term, question])))


def test_the_richest_post_is_taken_and_found_by_its_beginning(connection: psycopg.Connection) -> None:
    letters = "bcdfghjklmnpqrstvwxz"
    words = (a + b + c + d + "u" for a in letters for b in letters for c in letters for d in letters)
    text = " ".join(words)
    assert len(text) > 800_000
    assert found(connection, text, "bbbbu")
    assert tsvector_literal(terms(text))[2]


def test_counts_survive_the_journey(connection: psycopg.Connection) -> None:
    literal, length, _ = tsvector_literal(terms("dog cat dog " + "bird " * 300))
    rows = connection.execute("SELECT lexeme, cardinality(positions) FROM unnest(%s::tsvector)", (literal,)).fetchall()
    assert dict(rows) == {"dog": 2, "cat": 1, "bird": 255}
    assert length == 303
