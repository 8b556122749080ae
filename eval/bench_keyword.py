"""How fast the keyword channel is, how far its ten best are those of rank-bm25, and when it finds a new post."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from rank_bm25 import BM25Okapi

from clients.archive_source import ArchiveSource
from clients.postgres.index import PostgresIndex
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Connection, Database
from clients.postgres.queries import queries
from eval.bench_backfill import NullEmbedder
from eval.bench_database import bench_database, make_posts, sizes
from forum.config import Config
from forum.terms import terms, tsvector_literal
from forum.text import clean
from forum.types import Post, Scope, SourcePost, Topic

_QUESTIONS = 100
#: rank-bm25 takes a second for one over 425,000 posts.
_COMPARED = 40
_BEST = 10
#: Scores nearer than this are a tie.
_LEAST = 1e-4
#: So many real posts are read; more rows are the first half of one and the second half of another.
_REAL = 30_000
#: A forum's first posts are not like its later ones.
_EVERY = 3
_QUESTION_CHARACTERS = 600
_WORDS, _ASKED, _VOCABULARY = 60, 25, 100_000
#: Without stop words no word stands in half of the posts (there rank-bm25 has an idf of its own making).
_COMMONEST = 40


def bench_keyword(*, rows: int, posts: Path | None) -> dict[str, Any]:
    """`overlap@10`: the share of BM25Okapi's ten best posts (the same terms, all posts, in memory) among ours.

    With an archive the texts are its posts, and the questions are titles and beginnings of topics; without, words by
    Zipf's law, which no language obeys so evenly. `found_on_commit_ms`: from a post's commit to its place in the list.
    """
    texts, questions = _real(posts, rows) if posts else _made_up(rows)

    def fill(connection: Connection) -> None:
        make_posts(connection, rows)
        frequencies: Counter[str] = Counter()
        connection.execute("CREATE TEMPORARY TABLE said (id bigint, terms tsvector, length integer) ON COMMIT DROP")
        with connection.cursor() as cursor, cursor.copy("COPY said FROM STDIN") as copy:
            for at, text in enumerate(texts, start=1):
                literal, length, _ = tsvector_literal(text)
                copy.write_row((at, literal, length))
                frequencies.update(set(text))
        connection.execute("UPDATE post p SET terms = s.terms, doc_length = s.length FROM said s WHERE s.id = p.id")
        with connection.cursor() as cursor, cursor.copy("COPY term (term, df) FROM STDIN") as copy:
            for row in frequencies.items():
                copy.write_row(row)
        connection.execute("SET LOCAL work_mem = '256MB'")
        connection.execute("INSERT INTO posting (term, block, entries) " + queries("store")["posting_lists"])
        connection.execute("UPDATE corpus SET documents = %s, total_length = %s", (rows, sum(map(len, texts))))

    source = "archive" if posts else "zipf"
    with bench_database(f"bench_keyword_{source}_{rows}", fill) as database:
        index = PostgresIndex(database, embedder="")
        found, times = _ask(index, questions)
        asked = [index.keyword_terms(question, scope=Scope()) for question in questions]
        commit_ms = _commit_to_found(database)
        held = sizes(database, "posting", "term", "post")
    reference = BM25Okapi(texts)
    overlaps = []
    for weights, ours in list(zip(asked, found, strict=True))[:_COMPARED]:
        scores = reference.get_scores([term for term, count in weights.items() for _ in range(count)])
        tenth = max(np.partition(scores, -_BEST)[-_BEST], _LEAST)
        overlaps.append(sum(scores[post - 1] >= tenth - _LEAST for post in ours) / min(_BEST, (scores > 0).sum()))
    return {
        "rows": rows,
        "texts": source,
        "terms_per_question": round(float(np.mean([len(one) for one in asked])), 1),
        "p50_ms": round(float(np.percentile(times, 50)), 2),
        "p95_ms": round(float(np.percentile(times, 95)), 2),
        f"overlap@{_BEST}": round(float(np.mean(overlaps)), 4),
        "found_on_commit_ms": commit_ms,
        "bytes": held,
    }


def _ask(index: PostgresIndex, questions: Sequence[str]) -> tuple[list[list[int]], list[float]]:
    found: list[list[int]] = []
    times: list[float] = []
    for measured in (False, True):
        for question in questions:
            started = time.perf_counter()
            hits = index.keyword(question, limit=25, scope=Scope())
            if measured:
                times.append((time.perf_counter() - started) * 1000)
                found.append([hit.post_id for hit in hits[:_BEST]])
    return found, times


def _commit_to_found(database: Database) -> float | None:
    """Milliseconds until a post that was just written is found by its own word; None when it is not. It goes again."""
    ingest = Ingest(database, NullEmbedder(), Config(), forum_host="bench.example")
    now, id = datetime.now(UTC), 2**40
    post = Post(
        id=id,
        topic_id=id,
        post_number=1,
        user_id=1,
        username="bench",
        cooked="<p>qzbenchword</p>",
        created_at=now,
        updated_at=now,
    )
    ingest.ingest([SourcePost(post=post, topic=Topic(id=id, title="new", created_at=now))], observed_at=now)
    started = time.perf_counter()
    hits = PostgresIndex(database, embedder="").keyword("qzbenchword", limit=1, scope=Scope())
    took = (time.perf_counter() - started) * 1000
    ingest.store.remove_texts([id], "bench")
    return round(took, 2) if [hit.post_id for hit in hits] == [id] else None


def _real(archive: Path, rows: int) -> tuple[list[list[str]], list[str]]:
    """The terms of `rows` posts, and questions as the product asks them."""
    posts = [one for one, _ in islice(ArchiveSource(archive).posts(), 0, _EVERY * min(rows, _REAL), _EVERY)]
    clear = [(one.topic.title, clean(one.post.cooked)) for one in posts]
    texts = [terms(f"{title}\n\n{text}") for title, text in clear]
    rng = np.random.default_rng(0)
    while len(texts) < rows:
        first, second = (texts[at] for at in rng.integers(len(posts), size=2))
        texts.append(first[: len(first) // 2] + second[len(second) // 2 :])
    asked = [
        f"{title}\n{text[:_QUESTION_CHARACTERS]}"
        for one, (title, text) in zip(posts, clear, strict=True)
        if one.post.post_number == 1 and text
    ]
    return texts, [asked[at] for at in rng.permutation(len(asked))[:_QUESTIONS]]


def _made_up(rows: int) -> tuple[list[list[str]], list[str]]:
    """Posts of 60 words by Zipf's law over 100,000 words; a question is 25 words, half from one post."""
    rng = np.random.default_rng(0)
    chances = 1 / np.arange(_COMMONEST, _VOCABULARY + _COMMONEST) ** 1.05
    words = rng.choice(_VOCABULARY, size=(rows, _WORDS), p=chances / chances.sum())
    texts = [[f"w{word}" for word in row] for row in words]
    questions = []
    for _ in range(_QUESTIONS):
        own = rng.choice(texts[int(rng.integers(rows))], _ASKED // 2)
        common = [f"w{word}" for word in rng.integers(0, 300, size=_ASKED - _ASKED // 2)]
        questions.append(" ".join([*own, *common]))
    return texts, questions
