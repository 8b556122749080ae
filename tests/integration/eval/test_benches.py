"""The benchmarks of recall at a small size: what they print, and that they measure the index and not a scan."""

from __future__ import annotations

from pathlib import Path

import pytest

from clients.postgres.index import SMALL


@pytest.fixture
def _own_server(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.bench_database.database_url", lambda folder: postgres_url)


@pytest.mark.usefixtures("_own_server")
def test_the_vector_index_is_walked_and_filters_keep_the_list_full() -> None:
    from eval.bench_recall import bench_recall

    found = bench_recall(rows=SMALL + 1_000, dimensions=64)
    assert (found["plan"], found["fallbacks"]) == ("index", 0)
    assert found["recall@25"] >= 0.98
    assert {one["kept"]: one["rows_min"] for one in found["filters"]} == {0.69: 25, 0.08: 25, 0.02: 25}


@pytest.mark.usefixtures("_own_server")
def test_the_keyword_channels_ten_best_are_bm25okapis() -> None:
    pytest.importorskip("rank_bm25", reason="needs the `eval` extra")
    from eval.bench_keyword import bench_keyword

    found = bench_keyword(rows=2_000, posts=None)
    assert found["overlap@10"] >= 0.98
    assert found["found_on_commit_ms"] is not None


@pytest.mark.usefixtures("_own_server")
def test_so_are_they_on_real_posts(shared: Path) -> None:
    pytest.importorskip("rank_bm25", reason="needs the `eval` extra")
    from eval.bench_keyword import bench_keyword

    assert bench_keyword(rows=1_000, posts=shared / "data" / "imaging")["overlap@10"] >= 0.98
