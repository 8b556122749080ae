"""The report's plots, each from result files to one PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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
    figure = Figure(figsize=(7, 2.4 + 0.2), layout="constrained")
    panels = np.atleast_1d(figure.subplots(1, len(scores)))
    figure.suptitle("The best relevant candidate and the best other one", x=0.01, ha="left")
    for axes, (name, sides) in zip(panels, scores.items(), strict=True):
        both = np.array([*sides["relevant"], *sides["other"]])
        bins = np.linspace(both.min(), both.max(), 25).tolist()
        for side, colour in (("other", "#bab0ac"), ("relevant", "#59a14f")):
            axes.hist(np.array(sides[side]), bins=bins, alpha=0.6, label=side, color=colour)
        above = np.mean(np.array(sides["relevant"]) > np.array(sides["other"]))
        axes.set(xlabel=f"{name}: relevant above in {above:.0%}", yticks=[])
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
    """p50 and p95 of each stage."""
    figure, axes = _canvas("Time by stage, ms")
    places = np.arange(len(stages))
    for shift, name, colour in ((-0.2, "p50_ms", "#4e79a7"), (0.2, "p95_ms", "#f28e2b")):
        bars = axes.bar(places + shift, [one[name] for one in stages.values()], width=0.4, label=name[:3], color=colour)
        axes.bar_label(bars, fmt="%.1f", fontsize=8)
    axes.set_xticks(places, list(stages))
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


def _canvas(title: str, *, height: float = 4.2) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7, height), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#eeeeee")
    axes.set_axisbelow(True)
    return figure, axes
