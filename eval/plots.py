"""The report's plots, each from result files to one PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

Ranks = Mapping[str, Mapping[str, int | None]]

_COLOURS = {
    "keyword": "#b07aa1",
    "posts": "#4e79a7",
    "rrf": "#59a14f",
    "convex": "#bab0ac",
    "reranked": "#e15759",
    "reranked_without_links": "#f28e2b",
}
_DEPTH = 25
#: Inches: as narrow as the titles let it be, so that a phone shows the whole and its letters are still read.
_WIDTH = 6


def recall_by_depth(ranks: Ranks, path: Path) -> None:
    """The share of questions whose topic is among the first k, for each row."""
    figure, axes = _canvas("A relevant topic among the first k")
    depths = np.arange(1, _DEPTH + 1)
    for name, found in ranks.items():
        places = np.array([one if one else 10_000 for one in found.values()])
        axes.plot(depths, [(places <= k).mean() for k in depths], label=name, color=_COLOURS.get(name))
    axes.set(xlabel="k", ylabel="share of the questions", ylim=(0, None))
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


def channel_overlap(ranks: Ranks, path: Path, channels: Sequence[str] = ("keyword", "posts")) -> None:
    """Questions answered within the first 5 and 25 by both channels, by one only, by none."""
    figure, axes = _canvas("Which channel finds a relevant topic", height=2.6)
    colours = ("#59a14f", _COLOURS[channels[0]], _COLOURS[channels[1]], "#dddddd")
    for place, depth in enumerate((5, _DEPTH)):
        hit = [{id for id, rank in ranks[name].items() if rank and rank <= depth} for name in channels]
        whole = len(ranks[channels[0]].keys() | ranks[channels[1]].keys())
        parts = {
            "both": len(hit[0] & hit[1]),
            f"only {channels[0]}": len(hit[0] - hit[1]),
            f"only {channels[1]}": len(hit[1] - hit[0]),
            "neither": whole - len(hit[0] | hit[1]),
        }
        left = 0
        for (label, value), colour in zip(parts.items(), colours, strict=True):
            bar = axes.barh(place, value, left=left, color=colour, height=0.6, label=label if not place else None)
            axes.bar_label(bar, label_type="center", fontsize=9)
            left += value
    axes.set_yticks((0, 1), ("first 5", f"first {_DEPTH}"))
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.set(xlabel="questions")
    figure.legend(frameon=False, ncols=4, loc="outside lower center")
    figure.savefig(path, dpi=120)


def scores_by_relevance(scores: Mapping[str, Mapping[str, Sequence[float]]], path: Path) -> None:
    """The best relevant candidate of each question and the best other one, a panel a score."""
    figure = Figure(figsize=(_WIDTH, 2.8), layout="constrained")
    panels = np.atleast_1d(figure.subplots(1, len(scores)))
    figure.suptitle("The best relevant candidate and the best other one", x=0.01, ha="left")
    for axes, (name, sides) in zip(panels, scores.items(), strict=True):
        both = np.array([*sides["relevant"], *sides["other"]])
        bins = np.linspace(both.min(), both.max(), 25).tolist()
        for side, colour in (("other", "#bab0ac"), ("relevant", "#59a14f")):
            axes.hist(np.array(sides[side]), bins=bins, alpha=0.6, label=side, color=colour)
        above = np.mean(np.array(sides["relevant"]) > np.array(sides["other"]))
        axes.set(xlabel=f"{name}\nrelevant above in {above:.0%}", yticks=[])
        axes.spines[["top", "right", "left"]].set_visible(False)
    panels[0].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=120)


def score_distributions(logits: Mapping[str, Sequence[float]], thresholds: Mapping[str, Any], path: Path) -> None:
    """The top logit of questions that the forum answers and of those that it does not, with the zones' borders."""
    figure, axes = _canvas("The top logit, by whether the forum answers")
    values = {name: np.clip(np.array(ones), -15, 15) for name, ones in logits.items()}
    bins = np.linspace(min(map(np.min, values.values())), max(map(np.max, values.values())), 40).tolist()
    for name, colour in (("unanswerable", "#e15759"), ("answerable", "#59a14f")):
        axes.hist(values[name], bins=bins, alpha=0.6, label=name, color=colour, density=True)
    for name in ("abstain", "ok"):
        axes.axvline(float(thresholds[name]), color="#555555", linestyle="--", linewidth=1)
    axes.set(xlabel="logit (dashed: abstain below, ok from)", ylabel="density")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


def risk_against_coverage(logits: Mapping[str, Sequence[float]], thresholds: Mapping[str, Any], path: Path) -> None:
    """Answering the surest first: the share of unanswerable among the answered, by how many are answered.

    Both kinds weigh the same, however many questions of each the sets hold.
    """
    figure, axes = _canvas("Risk against coverage, as many unanswerable as answerable")
    yes, no = np.array(logits["answerable"]), np.array(logits["unanswerable"])
    cuts = np.unique(np.concatenate([yes, no]))[::-1]

    def point(cut: float) -> tuple[float, float]:
        right, wrong = float((yes >= cut).mean()), float((no >= cut).mean())
        return (right + wrong) / 2, wrong / max(right + wrong, 1e-9)

    line = np.array([point(cut) for cut in cuts])
    axes.plot(line[:, 0], line[:, 1], color="#4e79a7")
    for name, label in (("ok", "zone ok"), ("abstain", "all but silence")):
        at, risk = point(float(thresholds[name]))
        axes.plot(at, risk, "o", color="#e15759")
        axes.annotate(f"{label}: {risk:.1%}", (at, risk), textcoords="offset points", xytext=(-6, 8), ha="right")
    axes.set(xlabel="share of all questions that are answered", ylabel="unanswerable among them", ylim=(0, 0.52))
    figure.savefig(path, dpi=120)


def latency(stages: Mapping[str, Mapping[str, float]], path: Path) -> None:
    """A bar to p50 and a whisker to p95 for each stage, from the first of the pipeline down, and for their total."""
    order = [*(name for name in stages if name != "total"), *(["total"] if "total" in stages else [])]
    figure, axes = _canvas("Time by stage, models left out", height=1.1 + 0.27 * len(order))
    for place, name in enumerate(order):
        p50, p95 = stages[name]["p50_ms"], stages[name]["p95_ms"]
        axes.barh(place, p50, height=0.6, color="#bab0ac" if name == "total" else "#4e79a7")
        axes.plot((p50, p95), (place, place), color="#333333", linewidth=1, marker="|", markevery=[1])
        label = f"{_ms(p50)}, p95 {_ms(p95)}"
        axes.annotate(label, (p95, place), textcoords="offset points", xytext=(6, 0), va="center", fontsize=9)
    axes.set_yticks(range(len(order)), order)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.grid(axis="x", color="#eeeeee")
    axes.margins(x=0.22, y=0.02)
    axes.set(xlabel="ms: bar to p50, whisker to p95", xlim=(0, None))
    figure.savefig(path, dpi=120)


def growth(what: str, sizes: Sequence[Mapping[str, Any]], path: Path) -> None:
    """p50 and p95 by posts, with an exact scan's p50 where it was measured; both axes logarithmic."""
    figure, axes = _canvas(f"{what}: time by posts, both axes logarithmic")
    lines = (
        ("p50_ms", "p50", "#4e79a7", -14),
        ("p95_ms", "p95", "#f28e2b", 7),
        ("exact_p50_ms", "exact scan, p50", "#bab0ac", 7),
    )
    for name, label, colour, above in lines:
        points = [(one["rows"], one[name]) for one in sizes if name in one]
        if not points:
            continue
        axes.plot(*zip(*points, strict=True), marker="o", markersize=4, label=label, color=colour)
        for posts, ms in points:
            axes.annotate(_ms(ms), (posts, ms), textcoords="offset points", xytext=(0, above), ha="center", fontsize=9)
    axes.set(xscale="log", yscale="log", xlabel="posts", ylabel="ms")
    axes.margins(x=0.08, y=0.15)
    axes.set_xticks([one["rows"] for one in sizes], [f"{one['rows']:,}" for one in sizes])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


def _ms(value: float) -> str:
    return f"{value:.{0 if value >= 100 else 1 if value >= 1 else 2}f}"


def _canvas(title: str, *, height: float = 4.2) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#eeeeee")
    axes.set_axisbelow(True)
    return figure, axes
