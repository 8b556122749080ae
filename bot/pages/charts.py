"""Small charts as SVG, drawn on the server: stacked bars over time, and horizontal bars or spans."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 400, 150, 34, 22
_LABELS, _TEXTS = 100, 110
#: How many series have a colour of their own in admin.css.
_COLOURS = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """One colour of a stack: its numbers in the order of the chart's times."""

    name: str
    label: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """One row: from `start` to `end`, with what is written beside it."""

    label: str
    start: float
    end: float
    text: str
    colour: str = "s0"


def stacked(
    times: Sequence[datetime], series: Sequence[Series], *, title: str, day: Callable[[datetime], str]
) -> Markup:
    """Bars over time, the series on top of each other; colour classes `z-NAME` for zones, else `s0` to `s7`."""
    sums = [sum(one.numbers[i] for one in series) for i in range(len(times))]
    top = _round_up(max(sums, default=0))
    step = (_WIDTH - _LEFT) / max(len(times), 1)
    body: list[str] = [_grid(top)]
    for i, at in enumerate(times):
        x, y = _LEFT + i * step, float(_HEIGHT - _BOTTOM)
        for n, one in enumerate(series):
            if not one.numbers[i]:
                continue
            height = one.numbers[i] / top * (_HEIGHT - _BOTTOM - 8)
            y -= height
            said = Markup("{}: {} {}").format(day(at), one.numbers[i], one.label)
            body.append(
                f'<rect class="{colour(one.name, n)}" x="{x + step * 0.1:.1f}" y="{y:.1f}"'
                f' width="{step * 0.8:.1f}" height="{height:.1f}"><title>{said}</title></rect>'
            )
    for i in range(0, len(times), max(1, math.ceil(len(times) / 6))):
        # The last one ends at the edge, so that none is cut off.
        x, anchor = (_WIDTH, "end") if i == len(times) - 1 else (_LEFT + (i + 0.5) * step, "middle")
        body.append(f'<text class="axis" x="{x:.0f}" y="{_HEIGHT - 5}" text-anchor="{anchor}">{day(times[i])}</text>')
    return _svg(_HEIGHT, title, body)


def spans(bars: Sequence[Bar], *, title: str, logarithmic: bool = False, labels: int = _LABELS) -> Markup:
    """A row a bar, its name `labels` wide; logarithmic from 0.1 where times of very different length stand together."""
    low = 0.1 if logarithmic else 0.0
    high = max((bar.end for bar in bars), default=1) or 1

    def x(value: float) -> float:
        share = value / high
        if logarithmic:
            share = math.log(max(value, low) / low) / max(math.log(max(high, low * 10) / low), 1e-9)
        return labels + min(max(share, 0), 1) * (_WIDTH - labels - _TEXTS)

    body: list[str] = []
    for i, bar in enumerate(bars):
        y = 6 + i * 26
        left, width = x(bar.start), max(x(bar.end) - x(bar.start), 2 if bar.end else 0)
        body.append(
            Markup(
                '<text class="axis" x="{before}" y="{y}" text-anchor="end">{label}</text>'
                '<rect class="track" x="{left_end}" y="{top}" width="{track}" height="14" rx="3"/>'
                '<rect class="{colour}" x="{left:.1f}" y="{top}" width="{width:.1f}" height="14" rx="3"/>'
                '<text class="axis" x="{right}" y="{y}">{text}</text>'
            ).format(
                y=y + 12,
                top=y,
                before=labels - 6,
                left_end=labels,
                track=_WIDTH - labels - _TEXTS,
                label=bar.label,
                colour=bar.colour,
                left=left,
                width=width,
                right=_WIDTH - _TEXTS + 6,
                text=bar.text,
            )
        )
    return _svg(12 + 26 * max(len(bars), 1), title, body)


def colour(name: str, place: int) -> str:
    """Zones have colours of their own meaning."""
    return f"z-{name}" if name in ("ok", "weak", "abstain") else f"s{place % _COLOURS}"


def _svg(height: int, title: str, body: Sequence[str]) -> Markup:
    head = Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}" preserveAspectRatio="xMinYMin meet">'
    ).format(_WIDTH, height, title)
    # Every piece is made above, of numbers and of what Markup has escaped.
    return head + Markup("".join(body)) + Markup("</svg>")  # noqa: S704


def _grid(top: int) -> str:
    lines: list[str] = []
    for share in (0.0, 0.5, 1.0):
        y = _HEIGHT - _BOTTOM - share * (_HEIGHT - _BOTTOM - 8)
        lines.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(
            f'<text class="axis" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{round(top * share)}</text>'
        )
    return "".join(lines)


def _round_up(number: int) -> int:
    """The next even number that the axis can end on: 2, 4, 10, 20, 40, 100, ..."""
    size = 10 ** max(len(str(max(number, 1))) - 1, 0)
    return next(
        int(step * size) for step in (1, 2, 4, 10) if step * size >= max(number, 2) and int(step * size) % 2 == 0
    )
