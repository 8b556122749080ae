"""Reranks a question set by fits of the features on the set itself, none of which saw the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clients.features_reranker import FOLDS, fold_of
from eval.fit import Row, fit_order, order_rows
from eval.runner import Found, with_order


def cross_validated(
    found: Sequence[Found],
    *,
    depth: int | None = None,
    without: frozenset[str] = frozenset(),
    signal: Sequence[Mapping[int, float]] | None = None,
) -> list[Found]:
    """Each question reranked by a fit on the other four fifths.

    `depth`: only so many of the fused candidates, the rest keep their places behind them. `signal`: one more feature,
    by question and post id.
    """
    rows = [_rows(one, signal[at] if signal else None) for at, one in enumerate(found)]
    folds = [
        fit_order(
            [[(one, row) for one, row in zip(found, rows, strict=True) if fold_of(one.asked.id) != fold]], without
        )
        for fold in range(FOLDS)
    ]
    done: list[Found] = []
    for one, row in zip(found, rows, strict=True):
        order = [folds[fold_of(one.asked.id)].logit(values) for values in row]
        cut = depth or len(order)
        done.append(with_order(one, [*order[:cut], *(float("-inf") for _ in order[cut:])]))
    return done


def _rows(found: Found, signal: Mapping[int, float] | None) -> Sequence[Row]:
    rows = order_rows(found)
    if signal is None:
        return rows
    return [{**row, "signal": signal[one.passage.post_id]} for row, one in zip(rows, found.candidates, strict=True)]
