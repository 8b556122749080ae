"""The graph in the docs is the code's, and a stored trace is drawn as the path that it took."""

from __future__ import annotations

from pathlib import Path

from bot.graph import calls, document, graph, path_mermaid, path_text

TRACE = {
    "route": "gated",
    "stages": [
        {"stage": "read", "decision": "ask", "ms": 1.25, "data": {}},
        {"stage": "gate", "decision": 'x"] --> evil["', "ms": 0.5, "data": {}},
    ],
}
LOOPED = {
    "route": "answered",
    "stages": [{"stage": "corrective", "decision": "corrected", "data": {"passes": [{"why": "no figure"}, {}]}}],
}


def test_the_graph_in_the_docs_is_made_from_the_code() -> None:
    file = Path(__file__).parents[3] / "docs/graph.md"
    assert file.read_text(encoding="utf-8") == document(), "run `python -m bot graph > docs/graph.md`"


def test_the_graph_begins_with_reading_and_ends_with_rendering() -> None:
    stages = [node.stage for node in graph()]
    assert (stages[0], stages[-1]) == ("read", "render")
    assert {node.stage for node in graph() if node.ends} == {"read", "gate", "triage"}


def test_the_path_is_a_line_of_decisions() -> None:
    assert path_text(TRACE).startswith("read: ask -> gate: ")
    assert path_text(TRACE).endswith(" -> gated")


def test_every_pass_of_the_loop_is_on_the_path() -> None:
    assert path_text(LOOPED) == "corrective pass 1: no figure -> corrective pass 2 -> corrective: corrected -> answered"


def test_what_a_trace_says_is_a_label_and_never_syntax() -> None:
    drawn = path_mermaid(TRACE)
    assert drawn.splitlines()[0] == "flowchart TD"
    assert 'n0 --> n1["read<br/>ask<br/>1.2 ms"]' in drawn
    assert "evil[" not in drawn
    assert drawn.count("-->") == 3


CALLED = {
    "stage": "recall",
    "calls": [
        {"service": "index", "call": "keyword", "ms": 2.0, "outcome": "ok"},
        {"service": "index", "call": "keyword", "ms": 3.5, "outcome": "ok"},
        {"service": "embedder", "call": "embed_query", "ms": 9.0, "outcome": "unavailable 503"},
    ],
}


def test_calls_of_one_kind_are_one_line() -> None:
    assert calls(CALLED) == ["2 x index.keyword 5.5 ms", "embedder.embed_query 9.0 ms (unavailable 503)"]
    assert calls({"stage": "read"}) == []


def test_calls_are_drawn_with_their_stage() -> None:
    drawn = path_mermaid({"route": "answered", "stages": [CALLED]})
    assert 'n0 --> n1["recall<br/>2 x index.keyword 5.5 ms<br/>embedder.embed_query 9.0 ms (unavailable 503)"]' in drawn
