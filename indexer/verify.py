"""Holds the index against itself: what is set aside, what is missing, whether the statistics add up."""

from __future__ import annotations

from typing import Any

from clients.postgres.ingest import Ingest
from clients.postgres.model_store import INDEX_FROM
from clients.postgres.pool import Database
from clients.postgres.queries import queries

#: What is wrong when it is not zero; the rest is only told.
FAULTS = (
    "stale_texts",
    "without_vector",
    "wrong_vectors",
    "texts_not_public",
    "topics_without_vector",
    "wrong_terms",
    "wrong_postings",
    "wrong_totals",
    "index_missing",
)
_SAMPLE = 100


def verify(database: Database, model_id: int, *, opened: list[int]) -> dict[str, Any]:
    """Counts by kind, `ok`, and the posts set aside with their reason. Raises DatabaseUnavailable."""
    arguments = {"model": model_id, "opened": opened, "sample": _SAMPLE, "index_from": INDEX_FROM}
    with database.transaction() as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        connection.execute(queries("readers")["read_for_nobody"], arguments)
        counts = {name: _number(connection.execute(query, arguments).fetchone()) for name, query in _COUNTS.items()}
        aside = connection.execute(
            "SELECT s.post_id, m.name, s.reason, s.tries, s.at FROM set_aside s"
            " JOIN embedding_model m ON m.id = s.model_id ORDER BY s.post_id LIMIT %(sample)s",
            arguments,
        ).fetchall()
    return {
        "ok": not any(counts[name] for name in FAULTS),
        **counts,
        "set_aside": [
            {"post_id": row[0], "model": row[1], "reason": row[2], "tries": row[3], "at": row[4]} for row in aside
        ],
    }


def repair(database: Database, ingest: Ingest, *, opened: list[int]) -> None:
    """Put right what `verify` counts: texts out, statistics anew, missing vectors and index made."""
    with database.transaction() as connection:
        connection.execute(queries("readers")["read_for_nobody"], {"opened": opened})
        rows = connection.execute(_NOT_PUBLIC.format("p.id")).fetchall()
    ingest.store.remove_texts([row[0] for row in rows], "topic not public")
    with database.transaction() as connection:
        connection.execute("LOCK TABLE post, term, posting, corpus IN SHARE ROW EXCLUSIVE MODE")
        connection.execute("DELETE FROM term")
        connection.execute(
            "INSERT INTO term (term, df) SELECT t, count(*) FROM post, unnest(tsvector_to_array(terms)) t"
            " WHERE text IS NOT NULL GROUP BY t"
        )
        connection.execute("DELETE FROM posting")
        connection.execute(f"INSERT INTO posting (term, block, entries) {_LISTS}")
        connection.execute(
            "UPDATE corpus SET (documents, total_length) ="
            " (SELECT count(*), coalesce(sum(doc_length), 0) FROM post WHERE terms IS NOT NULL)"
        )
        connection.execute(
            "DELETE FROM embedding e USING post p WHERE p.id = e.post_id"
            " AND (p.text IS NULL OR (p.content_hash IS NOT NULL AND p.content_hash <> e.content_hash))"
        )
    ingest.refresh()
    ingest.fill()
    ingest.store.make_topic_vectors()
    ingest.models.build_index(ingest.model)


def _number(row: tuple[Any, ...] | None) -> int:
    return int(row[0]) if row and row[0] is not None else 0


_NOT_PUBLIC = """
    SELECT {} FROM post p
    WHERE p.text IS NOT NULL AND NOT EXISTS (SELECT 1 FROM public_post shown WHERE shown.id = p.id)
"""
_LISTS = queries("store")["posting_lists"]
# A list is in the order of writing; its entries begin with the post, so that sorted they compare.
_WRONG_LISTS = """
    SELECT count(*) FROM (SELECT term, block, entries FROM posting WHERE entries <> '') l
    FULL JOIN ({}) n ON n.term = l.term AND n.block = l.block
    WHERE l.entries IS DISTINCT FROM n.entries AND n.entries IS DISTINCT FROM (
        SELECT string_agg(substr(l.entries, at, 4), '' ORDER BY substr(l.entries, at, 4))
        FROM generate_series(1, length(l.entries), 4) at)
"""
_COUNTS = {
    "posts": "SELECT count(*) FROM post WHERE text IS NOT NULL",
    "stale_texts": "SELECT count(*) FROM post WHERE text IS NOT NULL AND content_hash IS NULL",
    "without_vector": """
        SELECT count(*) FROM post p
        LEFT JOIN embedding e ON e.model_id = %(model)s AND e.post_id = p.id
        LEFT JOIN set_aside s ON s.model_id = %(model)s AND s.post_id = p.id AND s.content_hash = p.content_hash
        WHERE p.text IS NOT NULL AND e.post_id IS NULL AND s.post_id IS NULL""",
    "wrong_vectors": """
        SELECT count(*) FROM embedding e JOIN post p ON p.id = e.post_id
        WHERE p.text IS NULL OR (p.content_hash IS NOT NULL AND p.content_hash <> e.content_hash)""",
    "texts_not_public": _NOT_PUBLIC.format("count(*)"),
    "topics_without_vector": """
        SELECT count(DISTINCT p.topic_id) FROM post p JOIN embedding e ON e.post_id = p.id AND e.model_id = %(model)s
        LEFT JOIN topic_embedding te ON te.topic_id = p.topic_id AND te.model_id = %(model)s
        WHERE te.topic_id IS NULL""",
    "wrong_terms": """
        SELECT count(*) FROM term t
        FULL JOIN (SELECT w, count(*) AS df FROM post, unnest(tsvector_to_array(terms)) w
                   WHERE text IS NOT NULL GROUP BY w) n ON n.w = t.term
        WHERE t.df IS DISTINCT FROM n.df""",
    "wrong_postings": _WRONG_LISTS.format(_LISTS),
    "wrong_totals": """
        SELECT abs(c.documents - n.documents) + abs(c.total_length - n.length)
        FROM corpus c, (SELECT count(*) AS documents, coalesce(sum(doc_length), 0) AS length
                        FROM post WHERE terms IS NOT NULL) n""",
    "index_missing": """
        SELECT count(*) FROM embedding_model m
        WHERE m.active AND m.index_kind = 'none'
          AND (SELECT count(*) FROM embedding e WHERE e.model_id = m.id) >= %(index_from)s""",
}
