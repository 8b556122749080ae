"""The report says what the saved results say, and its plots draw it."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs the `eval` extra")

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from eval import plots
from eval.commands import bench_search
from eval.commands.report import report
from eval.runner import Runner
from forum.errors import UsageError

_STAGES = {
    "read": {"p50_ms": 1.0, "p95_ms": 2.0},
    "total": {"p50_ms": 8.5, "p95_ms": 14.0},
    "recall": {"p50_ms": 7.5, "p95_ms": 12.25},
}
_OVERHEAD = {
    "rows": 93_802,
    "n": 200,
    "p50_ms": 6.5,
    "p95_ms": 11.5,
    "stages": {"recall": _STAGES["recall"]},
    "whole": {"p50_ms": 8.75, "p95_ms": 14.5, "stages": _STAGES},
    "date": "2026-12-01",
    "commit": "abc1234",
    "config": {"reranker": {"backend": "features"}},
}
_SIZES = [
    {"rows": rows, "dimensions": 64, "p50_ms": ms, "p95_ms": ms + 1, "exact_p50_ms": ms * 20, "recall@25": 0.98}
    for rows, ms in ((50_000, 5.0), (100_000, 5.5))
]


def _page(tmp_path: Path, **results: Any) -> str:
    for name, content in results.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    report([str(tmp_path / f"{name}.json") for name in results], tmp_path / "out")
    return (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_a_latency_section_says_how_much_was_measured_when_and_of_what(tmp_path: Path) -> None:
    page = _page(tmp_path, overhead=_OVERHEAD | {"load": [0.5, 0.4, 0.3]})
    assert "p50 <b>8.75 ms</b>, p95 <b>14.5 ms</b>" in page
    assert "Models are left out" in page
    cells = ("93,802", "200", "2026-12-01", "abc1234", "0.5 / 0.4 / 0.3")
    assert "".join(f"<td>{one}</td>" for one in cells) in page
    assert (tmp_path / "out" / "overhead-latency.png").stat().st_size > 1000


def test_a_load_that_nobody_took_down_is_said_to_be_missing(tmp_path: Path) -> None:
    assert "<td>not recorded</td>" in _page(tmp_path, overhead=_OVERHEAD)


def test_growth_has_a_line_a_size_and_a_curve(tmp_path: Path) -> None:
    page = _page(tmp_path, vectors={"growth": _SIZES, "load": [1.0]})
    for cells in (("50,000", "5.00", "6.00", "100.00", "0.980"), ("100,000", "5.50", "6.50", "110.00", "0.980")):
        assert "".join(f"<td>{one}</td>" for one in cells) in page
    assert (tmp_path / "out" / "vectors-curve.png").exists()


def test_a_single_size_has_no_curve(tmp_path: Path) -> None:
    assert "<td>50,000</td>" in _page(tmp_path, one=_SIZES[0])
    assert not list((tmp_path / "out").glob("*.png"))


def test_what_results_say_is_escaped(tmp_path: Path) -> None:
    page = _page(tmp_path, **{"a<b": {"growth": _SIZES, "commit": "c<d"}})
    assert "a<b" not in page
    assert "c<d" not in page
    assert "a&lt;b" in page
    assert "<td>c&lt;d</td>" in page


def test_a_result_of_another_kind_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="safety"):
        _page(tmp_path, safety={"n": 3, "passed": 3})


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    figures: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: figures.append(self))
    return figures


def test_stages_stand_in_order_and_the_total_last(drawn: list[Figure]) -> None:
    plots.latency(_STAGES, Path("unused.png"))
    (axes,) = drawn[0].axes
    assert [one.get_text() for one in axes.get_yticklabels()] == ["read", "recall", "total"]
    assert axes.yaxis_inverted()
    assert [bar.get_bbox().width for bar in axes.patches if isinstance(bar, Rectangle)] == [1.0, 7.5, 8.5]
    assert [np.asarray(line.get_xdata()).tolist() for line in axes.lines] == [[1.0, 2.0], [7.5, 12.25], [8.5, 14.0]]


def test_the_exact_scan_is_drawn_only_where_it_was_measured(drawn: list[Figure]) -> None:
    keywords = [{name: one[name] for name in ("rows", "p50_ms", "p95_ms")} for one in _SIZES]
    plots.growth("Vectors", _SIZES, Path("unused.png"))
    plots.growth("Keywords", keywords, Path("unused.png"))
    labels = [[line.get_label() for line in figure.axes[0].lines] for figure in drawn]
    assert labels == [["p50", "p95", "exact scan, p50"], ["p50", "p95"]]
    assert [figure.axes[0].get_xscale() for figure in drawn] == ["log", "log"]


def test_a_saved_overhead_tells_the_load_it_was_measured_under(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved: dict[str, Any] = {}
    questions = tmp_path / "q.jsonl"
    questions.write_text('{"id": "a", "title": "Rain?", "body": ""}\n', encoding="utf-8")
    monkeypatch.setattr(bench_search, "open_index", lambda *_, **__: (nullcontext(), "made up"))
    monkeypatch.setattr(Runner, "build", lambda *_: None)
    monkeypatch.setattr(bench_search, "bench_overhead", lambda *_: {"rows": 1})
    monkeypatch.setattr(bench_search, "save", lambda name, content: saved.update({name: content}))
    bench_search.overhead(questions=questions, posts=None, limit=200, save_as="x", set_=None, json=True)
    assert len(saved["x"]["load"]) == 3
    assert saved["x"]["source"] == "made up"
