"""`eval report`: the saved results as one page with plots."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Annotated, Any

import typer

from eval import plots
from eval.metrics import NAMES
from eval.paired import METRICS, paired
from eval.results import RESULTS, read
from forum.errors import UsageError

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;margin:1rem 0}"
    "td,th{padding:.25rem .8rem;text-align:right;border-bottom:1px solid #ddd}"
    "td:first-child,th:first-child{text-align:left}table{font-size:.85rem}"
    "small{color:#666}img{max-width:100%}h2{margin-top:2.5rem}"
)


def report(
    names: Annotated[list[str], typer.Argument(help="Results of retrieval, ablation, abstention and bench overhead.")],
    out: Annotated[Path, typer.Option(help="Folder for report.html and its PNG files.")] = RESULTS / "report",
) -> None:
    """Write report.html: a table and plots for each result.

    Example: python -m eval report slice-wordllama abstention-wordllama overhead
    """
    out.mkdir(parents=True, exist_ok=True)
    parts = [_section(name, read(name), out) for name in names]
    page = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Retrieval report</title><style>{_STYLE}</style>'
        f"<h1>Retrieval report</h1>{''.join(parts)}</html>\n"
    )
    (out / "report.html").write_text(page, encoding="utf-8")
    print(out / "report.html")


def _section(name: str, result: dict[str, Any], out: Path) -> str:
    stem = Path(name).stem
    title = f"<h2>{escape(stem)}</h2>{_origin(result)}"
    if "rows" in result:
        return title + _ablation(result)
    if isinstance(ranks := result.get("first_relevant"), dict):
        return title + _retrieval(stem, result, ranks, out)
    if isinstance(logits := result.get("logits"), dict):
        return title + _abstention(stem, result, logits, out)
    if isinstance(stages := result.get("stages"), dict):
        told = f"<p>Recall and aggregation: p50 {result['p50_ms']} ms, p95 {result['p95_ms']} ms.</p>"
        return title + told + _plot(out, f"{stem}-latency.png", lambda path: plots.latency(stages, path))
    raise UsageError(f"{name}: neither a retrieval, an ablation, an abstention nor an overhead result.")


def _retrieval(stem: str, result: dict[str, Any], ranks: dict[str, Any], out: Path) -> str:
    parts = [_table(result, list(ranks))]
    if "rrf" in ranks:
        parts.append(_differences(ranks, "rrf"))
    parts.append(_plot(out, f"{stem}-depth.png", lambda path: plots.recall_by_depth(ranks, path)))
    if {"keyword", "posts"} <= ranks.keys():
        parts.append(_plot(out, f"{stem}-overlap.png", lambda path: plots.channel_overlap(ranks, path)))
    if scores := result.get("scores"):
        parts.append(_plot(out, f"{stem}-relevance.png", lambda path: plots.scores_by_relevance(scores, path)))
    return "".join(parts)


def _abstention(stem: str, result: dict[str, Any], logits: dict[str, Any], out: Path) -> str:
    limits = result["thresholds"]
    told = (
        f"<p>AUROC <b>{result['auroc']}</b>. Abstains on <b>{result['recall']:.0%}</b> of the unanswerable and on "
        f"<b>{result['answerable_lost']:.0%}</b> of the answerable. Scored by {escape(result['scored_by'])}.</p>"
    )
    return (
        told
        + _plot(out, f"{stem}-scores.png", lambda path: plots.score_distributions(logits, limits, path))
        + _plot(out, f"{stem}-risk.png", lambda path: plots.risk_against_coverage(logits, limits, path))
    )


def _ablation(result: dict[str, Any]) -> str:
    says = result["configurations"]
    rows = [
        (
            name,
            says.get(name.rpartition(", ")[0], says.get(name, {})).get("says", ""),
            *(f"{row[metric]:.3f}" for metric in ("hit@1", "hit@5", "hit@25", "mrr@10")),
            f"{row['p']['hit@5']:.3f}",
            f"{row['p']['mrr@10']:.3f}",
        )
        for name, row in result["rows"].items()
    ]
    head = ("", "", "hit@1", "hit@5", "hit@25", "mrr@10", "p hit@5", "p mrr@10")
    return f"<p>{result['n']} questions; p against the defaults, reranked.</p>{_html(head, rows)}"


def _differences(ranks: dict[str, Any], base: str) -> str:
    rows = []
    for name in ranks:
        if name == base:
            continue
        found = paired(ranks[name], ranks[base])
        cells = []
        for metric in METRICS:
            low, high = found[metric]["difference_ci"]
            cells.append(f"{found[metric]['difference']:+.3f} ({low:+.3f} to {high:+.3f}), p {found[metric]['p']:.3f}")
        rows.append((f"{name} - {base}", *cells))
    return f"<h3>Against {base}, paired by question</h3>{_html(('', *METRICS), rows)}"


def _html(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><tr>{''.join(f'<th>{escape(one)}</th>' for one in head)}</tr>{body}</table>"


def _origin(result: dict[str, Any]) -> str:
    sets = ", ".join(f"{one['name']} ({one['n']})" for one in result.get("sets", {}).values())
    model = result.get("config", {}).get("embedder", {}).get("backend", "")
    facts = [result.get("date"), result.get("commit"), sets, model, result.get("reranked_by")]
    return f"<p><small>{escape(' · '.join(str(one) for one in facts if one))}</small></p>"


def _table(result: dict[str, Any], rows: list[str]) -> str:
    head = "".join(f"<th>{name}</th>" for name in ("", *NAMES))
    body = []
    for row in rows:
        cells = "".join(
            f"<td>{result[row][name]:.3f}<br><small>{low:.2f} to {high:.2f}</small></td>"
            for name in NAMES
            for low, high in (result[row][f"{name}_ci"],)
        )
        body.append(f"<tr><td>{escape(row)}</td>{cells}</tr>")
    return f"<p>{result['n']} questions.</p><table><tr>{head}</tr>{''.join(body)}</table>"


def _plot(out: Path, file: str, draw: Any) -> str:
    draw(out / file)
    return f'<p><img src="{escape(file)}" alt="{escape(file)}"></p>'
