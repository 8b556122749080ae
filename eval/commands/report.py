"""`eval report`: the saved results as one page with plots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    "body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;font-size:.85rem}"
    "td,th{padding:.25rem .55rem;text-align:right;white-space:nowrap;border-bottom:1px solid #ddd}"
    "td:first-child,th:first-child,.says td:nth-child(2){text-align:left}"
    "small{color:#666}h2{margin-top:2.5rem}"
    # A table that is wider than a phone is moved sideways by itself.
    ".wide{overflow-x:auto;margin:1rem 0}img{max-width:100%}"
)


def report(
    names: Annotated[
        list[str], typer.Argument(help="Results of retrieval, ablation, abstention, bench overhead|recall|keyword.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for report.html and its PNG files.")] = RESULTS / "report",
) -> None:
    """Write report.html: a table and plots for each result.

    Example: python -m eval report slice-wordllama bench-overhead bench-recall-growth
    """
    out.mkdir(parents=True, exist_ok=True)
    stems = [escape(Path(name).stem) for name in names]
    parts = [_section(name, read(name), out) for name in names]
    contents = " · ".join(f'<a href="#{stem}">{stem}</a>' for stem in stems)
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>Evaluation report</title><style>{_STYLE}</style>"
        f"<h1>Evaluation report</h1><p>{contents}</p>{''.join(parts)}"
        f"<hr><p><small>Made by python -m eval report {' '.join(stems)}</small></p></html>\n"
    )
    (out / "report.html").write_text(page, encoding="utf-8")
    print(out / "report.html")


def _section(name: str, result: dict[str, Any], out: Path) -> str:
    stem = Path(name).stem
    title = f'<h2 id="{escape(stem)}">{escape(stem)}</h2>{_origin(result)}'
    if isinstance(result.get("rows"), dict):
        return title + _ablation(result)
    if isinstance(ranks := result.get("first_relevant"), dict):
        return title + _retrieval(stem, result, ranks, out)
    if isinstance(logits := result.get("logits"), dict):
        return title + _abstention(stem, result, logits, out)
    if isinstance(whole := result.get("whole"), dict):
        return title + _latency(stem, result, whole, out)
    if isinstance(sizes := result.get("growth", [result]), list) and all("p50_ms" in one for one in sizes):
        return title + _growth(stem, result, sizes, out)
    raise UsageError(f"{name}: neither a retrieval, an ablation, an abstention nor a search benchmark.")


def _retrieval(stem: str, result: dict[str, Any], ranks: dict[str, Any], out: Path) -> str:
    parts = [_metrics(result, list(ranks))]
    if "rrf" in ranks:
        parts.append(_differences(ranks, "rrf"))
    depth = "The share of questions with a relevant topic among the first k, one line a row of the table"
    parts.append(_plot(out, f"{stem}-depth.png", depth, lambda path: plots.recall_by_depth(ranks, path)))
    if {"keyword", "posts"} <= ranks.keys():
        overlap = "How many questions both channels answer, only one, and neither"
        parts.append(_plot(out, f"{stem}-overlap.png", overlap, lambda path: plots.channel_overlap(ranks, path)))
    if scores := result.get("scores"):
        apart = f"Scores of the best relevant candidate and of the best other one: {', '.join(scores)}"
        parts.append(_plot(out, f"{stem}-relevance.png", apart, lambda path: plots.scores_by_relevance(scores, path)))
    return "".join(parts)


def _abstention(stem: str, result: dict[str, Any], logits: dict[str, Any], out: Path) -> str:
    limits = result["thresholds"]
    told = (
        f"<p>AUROC <b>{result['auroc']}</b>. Abstains on <b>{result['recall']:.0%}</b> of the unanswerable and on "
        f"<b>{result['answerable_lost']:.0%}</b> of the answerable. Scored by {escape(result['scored_by'])}.</p>"
    )
    spread = "The top logits of questions that the forum answers and of those that it does not, with the zones' borders"
    risk = "The share of unanswerable questions among the answered, by how many are answered"
    return (
        told
        + _plot(out, f"{stem}-scores.png", spread, lambda path: plots.score_distributions(logits, limits, path))
        + _plot(out, f"{stem}-risk.png", risk, lambda path: plots.risk_against_coverage(logits, limits, path))
    )


def _latency(stem: str, result: dict[str, Any], whole: dict[str, Any], out: Path) -> str:
    reranker = result.get("config", {}).get("reranker", {}).get("backend", "")
    told = (
        f"<p>A whole answer takes p50 <b>{whole['p50_ms']} ms</b>, p95 <b>{whole['p95_ms']} ms</b>; recall and "
        f"aggregation alone {result['p50_ms']} and {result['p95_ms']} ms. Models are left out: each question is "
        f"embedded beforehand, and no LLM is asked. The reranker ({escape(reranker)}) is counted.</p>"
    )
    run = (f"{result['rows']:,}", f"{result['n']:,}", *_measured(result))
    alt = f"p50 and p95 of each stage, in ms; all together {whole['p50_ms']} and {whole['p95_ms']}"
    plot = _plot(out, f"{stem}-latency.png", alt, lambda path: plots.latency(whole["stages"], path))
    return told + plot + _table(("posts", "questions", *_MEASURED), [run])


def _growth(stem: str, result: dict[str, Any], sizes: Sequence[Mapping[str, Any]], out: Path) -> str:
    """A line a size, and the curve through them where there are several."""
    vectors = "dimensions" in sizes[0]
    names = {"p50_ms": "p50 ms", "p95_ms": "p95 ms", **({"exact_p50_ms": "exact scan, p50 ms"} if vectors else {})}
    same = "recall@25" if vectors else "overlap@10"
    rows = [
        (f"{one['rows']:,}", *(f"{one[name]:.2f}" for name in names), f"{one[same]:.3f}", *_measured(result))
        for one in sizes
    ]
    table = _table(("posts", *names.values(), same, *_MEASURED), rows)
    if len(sizes) < 2:
        return table
    what = "Vectors" if vectors else "Keywords"
    alt = f"{what}: {', '.join(names.values())} from {rows[0][0]} to {rows[-1][0]} posts"
    return _plot(out, f"{stem}-curve.png", alt, lambda path: plots.growth(what, sizes, path)) + table


_MEASURED = ("date", "commit", "load (1, 5, 15 min)")


def _measured(result: dict[str, Any]) -> tuple[str, str, str]:
    """When, of what, and how busy the machine was."""
    load = " / ".join(str(one) for one in result.get("load", ())) or "not recorded"
    return str(result.get("date", "")), str(result.get("commit", "")), load


def _ablation(result: dict[str, Any]) -> str:
    says = result["configurations"]
    rows = [
        (
            name,
            says.get(name.rpartition(", ")[0], says.get(name, {})).get("says", ""),
            *(f"{row[metric]:.3f}" for metric in ("hit@1", "hit@5", "hit@25", "mrr@10")),
            _p(row["p"]["hit@5"]),
            _p(row["p"]["mrr@10"]),
        )
        for name, row in result["rows"].items()
    ]
    head = ("", "", "hit@1", "hit@5", "hit@25", "mrr@10", "p hit@5", "p mrr@10")
    return f"<p>{result['n']} questions; p against the defaults, reranked.</p>{_table(head, rows, 'says')}"


def _differences(ranks: dict[str, Any], base: str) -> str:
    rows = []
    for name in ranks:
        if name == base:
            continue
        found = paired(ranks[name], ranks[base])
        cells = []
        for metric in METRICS:
            low, high = found[metric]["difference_ci"]
            cells.append(f"{found[metric]['difference']:+.3f}\n{low:+.3f} to {high:+.3f}\np {_p(found[metric]['p'])}")
        rows.append((f"{name} - {base}", *cells))
    return f"<h3>Against {base}, paired by question</h3>{_table(('', *METRICS), rows)}"


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "") -> str:
    """A cell's further lines are small."""

    def cell(text: str) -> str:
        first, *rest = map(escape, text.split("\n"))
        return f"<td>{first}{''.join(f'<br><small>{one}</small>' for one in rest)}</td>"

    body = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
    heads = "".join(f"<th>{escape(one)}</th>" for one in head)
    return f'<div class="wide"><table class="{kind}"><tr>{heads}</tr>{body}</table></div>'


def _origin(result: dict[str, Any]) -> str:
    sets = ", ".join(f"{one['name']} ({one['n']})" for one in result.get("sets", {}).values())
    model = result.get("config", {}).get("embedder", {}).get("backend", "")
    facts = [result.get("date"), result.get("commit"), sets, model, result.get("reranked_by")]
    return f"<p><small>{escape(' · '.join(str(one) for one in facts if one))}</small></p>"


def _metrics(result: dict[str, Any], rows: list[str]) -> str:
    lines = []
    for row in rows:
        ranges = (result[row][f"{name}_ci"] for name in NAMES)
        cells = (
            f"{result[row][name]:.3f}\n{low:.2f} to {high:.2f}" for name, (low, high) in zip(NAMES, ranges, strict=True)
        )
        lines.append((row, *cells))
    return f"<p>{result['n']} questions.</p>{_table(('', *NAMES), lines)}"


def _plot(out: Path, file: str, alt: str, draw: Callable[[Path], None]) -> str:
    draw(out / file)
    return f'<p><img src="{escape(file)}" alt="{escape(alt)}"></p>'
