"""`eval calibrate`: zone thresholds for the configured reranker, from answerable and unanswerable questions."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
import yaml

from clients.config_file import config_path, parse_config
from clients.console import print_json
from eval.calibration import (
    Scored,
    expected_calibration_error,
    probabilities,
    reliability,
    smallest_safe_threshold,
    threshold_interval,
)
from eval.question_set import read_questions
from eval.reliability_plot import reliability_plot
from eval.results import provenance, save
from eval.runner import Runner
from eval.scratch import open_index
from eval.settings import config_with
from eval.top_logits import top_logits
from forum.config import ZoneThresholds
from forum.errors import ThreadciteError, UsageError

_ZONES = re.compile(r"^(  zones:)[^\n]*(\n(?:    [^\n]*\n)*)", re.MULTILINE)


def calibrate(
    answerable: Annotated[Path, typer.Option(help="Questions that the forum answers.")],
    unanswerable: Annotated[Path, typer.Option(help="Questions that it does not.")],
    posts: Annotated[
        str | None,
        typer.Option(help="archive:PATH: a scratch index of it, built once. Default: the running index."),
    ] = None,
    wrong: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="Most answers that may be wrong, of those not abstained on.")
    ] = 0.05,
    wrong_ok: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="The same in zone ok, where nothing is said of weakness.")
    ] = 0.03,
    write: Annotated[bool, typer.Option("--write", help="Put the thresholds into config.yml.")] = False,
    set_: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE over config.yml; repeatable.")] = None,
    save_as: Annotated[str | None, typer.Option("--save", help="Keep eval/results/NAME.json and .png.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")] = False,
) -> None:
    """The smallest thresholds at which the upper 95 % bound on wrong-among-answered is under the targets.

    Prints them with bootstrap intervals, and how well probabilities made from the logits hold (ECE, 10 bins).
    Thresholds name their model: they are refused for another one's logits.

    Example: python -m eval calibrate --answerable q.jsonl --unanswerable u.jsonl --write
    """
    config = config_with(set_ or ())
    yes_set, no_set = read_questions(answerable), read_questions(unanswerable)
    database, digest = open_index(posts, until=None, config=config)
    with database:
        runner = Runner.build(config, database)
        yes, no, how = top_logits(runner, yes_set, no_set)
        model = runner.reranker.model_id
    scored = Scored(logits=np.array([*yes, *no]), labels=np.array([1.0] * len(yes) + [0.0] * len(no)))
    borders = {
        "abstain": smallest_safe_threshold(scored, most_wrong=wrong),
        "ok": smallest_safe_threshold(scored, most_wrong=wrong_ok),
    }
    if borders["abstain"] is None or borders["ok"] is None:
        raise ThreadciteError(
            f"No threshold keeps wrong answers under {wrong:.0%} and {wrong_ok:.0%} with 95 % confidence: the reranker "
            f"does not tell, or {len(yes)} and {len(no)} questions are too few. Allow more with --wrong and --wrong-ok."
        )
    chances = probabilities(scored)
    rows = reliability(chances, scored.labels)
    thresholds = ZoneThresholds(
        model=model,
        abstain=round(borders["abstain"], 2),
        ok=round(max(borders["ok"], borders["abstain"]), 2),
        calibrated_on=f"{yes_set.name} and {no_set.name}, {datetime.now(UTC).date().isoformat()}",
    )
    result: dict[str, Any] = {
        "model": model,
        "thresholds": thresholds.model_dump(),
        "intervals": {
            "abstain": threshold_interval(scored, most_wrong=wrong),
            "ok": threshold_interval(scored, most_wrong=wrong_ok),
        },
        "targets": {"wrong": wrong, "wrong_ok": wrong_ok},
        "ece": round(expected_calibration_error(rows), 4),
        "reliability": [[round(chance, 3), round(share, 3), count] for chance, share, count in rows],
        "scored_by": how,
        **provenance(config, posts=digest, sets={"answerable": yes_set, "unanswerable": no_set}),
    }
    if save_as:
        reliability_plot(rows, save(save_as, result).with_suffix(".png"), model)
    if write:
        write_thresholds(config_path(), thresholds)
    if json:
        print_json(result)
    else:
        print(
            f"{model}: abstain below {thresholds.abstain:g} {result['intervals']['abstain']}, ok from "
            f"{thresholds.ok:g} {result['intervals']['ok']}; ECE {result['ece']:.3f}"
        )


def write_thresholds(path: Path, thresholds: ZoneThresholds) -> None:
    """Put the thresholds into the config file in place of this model's older ones; comments stay.

    Raises UsageError when the file has no `zones:` line in the form that config.yml comes with.
    """
    text = path.read_text(encoding="utf-8")
    data = yaml.safe_load(text) or {}
    if len(_ZONES.findall(text)) != 1:
        raise UsageError(f"{path}: no single `  zones:` line under reranker. Add by hand: {thresholds.model_dump()}")
    others = [one for one in (data.get("reranker", {}).get("zones") or []) if one.get("model") != thresholds.model]
    flow = yaml.safe_dump([thresholds.model_dump(), *others], default_flow_style=True, sort_keys=False, width=10_000)
    written = _ZONES.sub(lambda found: f"{found[1]} {flow.strip()}\n", text)
    parse_config(written.encode(), where=str(path))
    path.write_text(written, encoding="utf-8")
