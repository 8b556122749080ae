"""Thresholds that keep their promise, and probabilities that are checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

pytest.importorskip("sklearn", reason="needs the `eval` extra")

from eval.calibration import (
    Scored,
    expected_calibration_error,
    probabilities,
    reliability,
    smallest_safe_threshold,
    threshold_interval,
)
from eval.commands.calibrate import write_thresholds
from forum.config import ZoneThresholds
from forum.errors import UsageError


def _scored(count: int, *, noise: float = 1.0, seed: int = 0) -> Scored:
    rng = np.random.default_rng(seed)
    labels = (rng.random(count) < 0.6).astype(np.float64)
    return Scored(logits=4 * labels - 2 + noise * rng.normal(size=count), labels=labels)


def test_wrong_among_answered_stays_under_the_target_on_new_questions() -> None:
    threshold = smallest_safe_threshold(_scored(600), most_wrong=0.05)
    assert threshold is not None
    fresh = _scored(20_000)
    answered = fresh.logits >= threshold
    assert (1 - fresh.labels[answered]).mean() < 0.05


def test_a_stricter_target_gives_no_lower_threshold() -> None:
    scored = _scored(600)
    strict, loose = (smallest_safe_threshold(scored, most_wrong=one) for one in (0.02, 0.2))
    assert strict is not None
    assert loose is not None
    assert strict >= loose


def test_five_questions_prove_nothing() -> None:
    scored = Scored(logits=np.arange(5.0), labels=np.ones(5))
    assert smallest_safe_threshold(scored, most_wrong=0.05) is None


def test_logits_that_tell_nothing_give_no_threshold() -> None:
    rng = np.random.default_rng(1)
    scored = Scored(logits=rng.normal(size=500), labels=(rng.random(500) < 0.5).astype(np.float64))
    assert smallest_safe_threshold(scored, most_wrong=0.05) is None


def test_the_interval_of_a_threshold_ends_where_thresholds_of_other_questions_do() -> None:
    intervals = [threshold_interval(_scored(400, seed=seed), most_wrong=0.1) for seed in range(4)]
    others = [smallest_safe_threshold(_scored(400, seed=seed), most_wrong=0.1) for seed in range(100, 300)]
    ends = np.percentile([one for one in others if one is not None], [2.5, 97.5])
    assert np.mean([one for one in intervals if one], axis=0) == pytest.approx(ends, abs=0.1)


def test_questions_that_rarely_prove_a_threshold_have_no_interval() -> None:
    assert threshold_interval(Scored(logits=np.arange(5.0), labels=np.ones(5)), most_wrong=0.05) is None


@pytest.mark.parametrize("count", [400, 3000])
def test_platt_and_isotonic_give_probabilities_that_hold(count: int) -> None:
    scored = _scored(count, noise=2.0)
    assert expected_calibration_error(reliability(probabilities(scored), scored.labels)) < 0.06


def test_overconfident_probabilities_have_an_error() -> None:
    labels = np.array([1.0, 0.0] * 50)
    assert expected_calibration_error(reliability(np.full(100, 0.99), labels)) == pytest.approx(0.49)


def _config(tmp_path: Path, zones: str) -> Path:
    path = tmp_path / "config.yml"
    path.write_text(f"# mine\nreranker:\n  backend: tei # why\n  zones:{zones}\n  timeout_s: 3\n", encoding="utf-8")
    return path


def test_thresholds_go_into_the_config_and_comments_stay(tmp_path: Path) -> None:
    path = _config(tmp_path, " []   # none yet")
    for abstain in (-3.0, -2.5):
        write_thresholds(path, ZoneThresholds(model="m", abstain=abstain, ok=1.0, calibrated_on="set: one"))
    write_thresholds(path, ZoneThresholds(model="other", abstain=0, ok=1))
    text = path.read_text(encoding="utf-8")
    zones = {one["model"]: one["abstain"] for one in yaml.safe_load(text)["reranker"]["zones"]}
    assert zones == {"other": 0.0, "m": -2.5}
    assert text.startswith("# mine")
    assert "# why" in text
    assert "timeout_s: 3" in text


def test_a_config_without_the_line_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "config.yml"
    path.write_text("bot: {}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="by hand"):
        write_thresholds(path, ZoneThresholds(model="m", abstain=0, ok=1))
    assert path.read_text(encoding="utf-8") == "bot: {}\n"
