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
    """Questions answered within 25 by both channels, by one only, by none."""
    one, other = (ranks[name] for name in channels)
    hit = {name: {id for id, rank in ranks[name].items() if rank and rank <= _DEPTH} for name in channels}
    left, right = hit[channels[0]], hit[channels[1]]
    parts = {
        "both": len(left & right),
        f"only {channels[0]}": len(left - right),
        f"only {channels[1]}": len(right - left),
        "neither": len(one.keys() | other.keys()) - len(left | right),
    }
    figure, axes = _canvas("Which channel finds a relevant topic in its first 25")
    bars = axes.barh(list(parts), list(parts.values()), color=["#59a14f", "#b07aa1", "#4e79a7", "#bab0ac"])
    axes.bar_label(bars, padding=3)
    axes.invert_yaxis()
    axes.set(xlabel="questions")
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


def risk_against_coverage(logits: Mapping[str, Sequence[float]], path: Path) -> None:
    """Answering the surest first: the share of wrong among the answered, by how many are answered."""
    figure, axes = _canvas("Risk against coverage")
    scores = np.array([*logits["answerable"], *logits["unanswerable"]])
    wrong = np.array([0.0] * len(logits["answerable"]) + [1.0] * len(logits["unanswerable"]))
    order = np.argsort(-scores, kind="stable")
    answered = np.arange(1, len(order) + 1)
    axes.plot(answered / len(order), np.cumsum(wrong[order]) / answered, color="#4e79a7")
    axes.set(xlabel="share of all questions that are answered", ylabel="unanswerable among them")
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


def _canvas(title: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#eeeeee")
    axes.set_axisbelow(True)
    return figure, axes
