"""One text that the embedder cannot take, or that is too long for a limit, costs nobody else anything."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from clients.embed_batches import Poison, embed_all
from clients.fakes.http_double import http_double
from clients.fakes.ollama_embed import OllamaEmbedDouble
from clients.fakes.tei_embed import TeiEmbedDouble
from clients.ollama_embedder import OllamaEmbedder
from clients.postgres.backfill_store import BackfillStore
from clients.postgres.ingest import Ingest
from clients.postgres.pool import Database
from clients.tei_embedder import TeiEmbedder
from forum.config import Config, EmbedderSection
from forum.errors import ModelMismatch, RemoteRefused, RemoteUnavailable
from indexer.backfill import backfill
from indexer.sources import open_source

from .conftest import Letters, lines, record

Stored = Callable[[], dict[int, str]]


def index(database: Database, embedder: object, path: Path) -> Ingest:
    ingest = Ingest(database, embedder, Config())  # type: ignore[arg-type]
    source = open_source(f"archive:{path}", Config(), on_problem=lambda line: pytest.fail(line))
    backfill(source, ingest, BackfillStore(database), batch_posts=1000)
    return ingest


def vectors(database: Database) -> set[int]:
    with database.connection() as connection:
        return {row[0] for row in connection.execute("SELECT post_id FROM embedding")}


def test_a_text_that_always_fails_is_set_aside_and_the_other_99_are_searchable(
    tmp_path: Path, database: Database, stored: Stored
) -> None:
    posts = [record(n, f"word{n} and rain" if n != 17 else "zzbad words and rain") for n in range(1, 101)]
    (tmp_path / "posts.jsonl").write_bytes(lines(posts))
    double = OllamaEmbedDouble(poison="zzbad")
    with http_double(double) as url:
        embedder = OllamaEmbedder(EmbedderSection(backend="ollama", url=url))
        index(database, embedder, tmp_path)
        assert vectors(database) == set(range(1, 101)) - {17}
        with database.connection() as connection:
            aside = connection.execute("SELECT post_id, reason, tries FROM set_aside").fetchall()
            by_word = connection.execute("SELECT id FROM public_post WHERE terms @@ 'zzbad'::tsquery").fetchall()
        assert [(row[0], row[2]) for row in aside] == [(17, 3)]
        assert "NaN" in aside[0][1]
        assert by_word == [(17,)]
        assert len(double.history) < 40
        double.history.clear()
        index(database, embedder, tmp_path)
        assert double.history == [], "the next run does not try it again"


def test_a_poisoned_text_that_is_edited_is_tried_again(database: Database) -> None:
    class Picky(Letters):
        def embed_passages(self, texts):  # type: ignore[no-untyped-def]
            if any("zzbad" in text for text in texts):
                raise RemoteRefused("NaN", status=500)
            return super().embed_passages(texts)

    from clients.discourse_json import read_source_post

    ingest = Ingest(database, Picky(), Config())
    ingest.ingest([read_source_post(record(1, "zzbad"))])
    assert vectors(database) == set()
    ingest.ingest([read_source_post(record(1, "good", version=2, updated_at="2025-01-01T00:00:00Z"))])
    with database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM set_aside").fetchone() == (0,)
    assert vectors(database) == {1}


def test_a_service_that_fails_at_everything_stops_the_run_and_sets_nothing_aside(
    tmp_path: Path, database: Database
) -> None:
    (tmp_path / "posts.jsonl").write_bytes(lines([record(n) for n in range(1, 9)]))
    with http_double(OllamaEmbedDouble(error=(500, "NaN everywhere"))) as url:
        embedder = OllamaEmbedder(EmbedderSection(backend="ollama", url=url))
        with pytest.raises(RemoteUnavailable):
            index(database, embedder, tmp_path)
    with database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM set_aside").fetchone() == (0,)
        assert connection.execute("SELECT state FROM backfill").fetchone() == ("failed",)


def test_thirty_two_posts_of_32000_letters_without_a_space_get_through_tei(
    tmp_path: Path, database: Database, stored: Stored
) -> None:
    chance = random.Random(1)
    posts = [record(n, "".join(chance.choices("abcdefgh", k=32_000))) for n in range(1, 33)]
    posts += [record(40, '<aside class="quote"><blockquote>only a quote</blockquote></aside>', topic_title="")]
    (tmp_path / "posts.jsonl").write_bytes(lines(posts))
    double = TeiEmbedDouble(tokens=8192, bytes_limit=400_000)
    with http_double(double) as url:
        index(database, TeiEmbedder(EmbedderSection(backend="tei", url=url)), tmp_path)
    assert vectors(database) == set(range(1, 33))
    assert all(all(one["inputs"]) for one in double.history), "an empty text is never sent"


def test_a_text_that_is_refused_for_its_length_is_embedded_by_its_beginning() -> None:
    class Short(Letters):
        def embed_passages(self, texts):  # type: ignore[no-untyped-def]
            if any(len(text) > 1500 for text in texts):
                raise RemoteRefused("input length exceeds the context length", status=400)
            return super().embed_passages(texts)

    done = embed_all(Short(), ["fine", "a" * 5000], batch_tokens=8192)
    assert all(isinstance(one, np.ndarray) for one in done.results)
    assert done.shortened == {1}


def test_vectors_of_nan_and_of_zeros_are_set_aside() -> None:
    class Broken(Letters):
        def embed_passages(self, texts):  # type: ignore[no-untyped-def]
            made = super().embed_passages(texts)
            for row, text in enumerate(texts):
                if "nan" in text:
                    made[row, 3] = np.nan
                if "zero" in text:
                    made[row] = 0
            return made

    done = embed_all(Broken(), ["fine", "nan", "zero"], batch_tokens=8192)
    assert [isinstance(one, Poison) for one in done.results] == [False, True, True]


def test_batches_are_bounded_in_tokens_bytes_and_texts() -> None:
    letters = Letters()
    embed_all(letters, ["é" * 4000] * 100 + ["a"] * 1000, batch_tokens=8192)
    assert max(map(len, letters.calls)) <= 256
    assert max(sum(len(text.encode()) for text in call) for call in letters.calls) <= 1_000_000
    assert max(len(call) * max(map(len, call)) // 4 for call in letters.calls) <= 8192 + 1000


def test_cut_texts_are_counted(tmp_path: Path, database: Database) -> None:
    from indexer.status import status

    (tmp_path / "posts.jsonl").write_bytes(lines([record(1, "rain " * 3000), record(2)]))
    index(database, Letters(), tmp_path)
    assert status(database)["truncated"] == 1


def test_a_post_of_800000_letters_of_distinct_words_and_a_word_of_3000_stop_nobody(
    tmp_path: Path, database: Database, stored: Stored
) -> None:
    chance = random.Random(2)
    words = list(dict.fromkeys("".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=5)) for _ in range(140_000)))
    posts = [record(n) for n in range(1, 41)]
    posts[19] = record(20, "umbrella " + " ".join(words)[:800_000])
    posts[20] = record(21, "rain " + "x" * 3000)
    (tmp_path / "posts.jsonl").write_bytes(lines(posts))
    index(database, Letters(), tmp_path)
    assert len(stored()) == 40
    assert vectors(database) == set(range(1, 41))
    with database.connection() as connection:
        found = connection.execute("SELECT id FROM public_post WHERE terms @@ 'umbrella'::tsquery").fetchall()
        assert connection.execute("SELECT truncated FROM post WHERE id = 20").fetchone() == (True,)
    assert found == [(20,)]


def test_more_dimensions_than_an_index_takes_are_refused_before_the_first_post(
    tmp_path: Path, database: Database
) -> None:
    (tmp_path / "posts.jsonl").write_bytes(lines([record(1)]))
    index(database, Letters(dimensions=1024), tmp_path)
    big = Letters(name="test/big", dimensions=4096)
    with pytest.raises(ModelMismatch, match=r"4096 dimensions.*4000.*embedder\.dimensions.*embedder\.model"):
        index(database, big, tmp_path)
    assert big.calls == []
    assert vectors(database) == {1}


def test_other_dimensions_under_the_same_name_are_refused(database: Database) -> None:
    _ = Ingest(database, Letters(dimensions=26), Config()).model
    with pytest.raises(ModelMismatch, match="26"):
        _ = Ingest(database, Letters(dimensions=30), Config()).model


def test_an_embedder_that_gives_other_dimensions_than_it_says_is_refused() -> None:
    class Liar(Letters):
        def embed_passages(self, texts):  # type: ignore[no-untyped-def]
            return super().embed_passages(texts)[:, :20]

    with pytest.raises(ModelMismatch, match="20 dimensions, expected 26"):
        embed_all(Liar(), ["rain"], batch_tokens=100)
