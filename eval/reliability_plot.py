"""A reliability diagram: how often the forum answered, by how likely the logit said it was."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def reliability_plot(rows: Sequence[tuple[float, float, int]], path: Path, model: str) -> None:
    """Write a PNG; `rows` as eval.calibration.reliability gives them."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 5), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=1, label="perfect")
    axes.plot([row[0] for row in rows], [row[1] for row in rows], marker="o", label=model)
    axes.set(xlabel="probability that the forum answers", ylabel="share that it answers", title="Reliability")
    axes.legend()
    figure.savefig(path, dpi=120)
