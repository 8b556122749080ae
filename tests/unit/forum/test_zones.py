"""Zones: the borders belong to the upper side, and to one model only."""

from __future__ import annotations

import pytest

from forum.config import ZoneThresholds
from forum.errors import ModelMismatch
from forum.types import Zone
from forum.zones import BUILT_IN, confidence, thresholds_for, zone_of

_LIMITS = ZoneThresholds(model="m", abstain=-4, ok=0)


@pytest.mark.parametrize(
    ("top", "zone"), [(-4.01, Zone.ABSTAIN), (-4.0, Zone.WEAK), (-0.01, Zone.WEAK), (0.0, Zone.OK), (9.0, Zone.OK)]
)
def test_each_zone_begins_at_its_threshold(top: float, zone: Zone) -> None:
    assert zone_of(top, _LIMITS) is zone


def test_another_models_thresholds_are_refused_with_the_command_that_makes_some() -> None:
    with pytest.raises(ModelMismatch, match="eval calibrate"):
        thresholds_for("bge-reranker-v2-m3", BUILT_IN)


def test_the_owner_of_a_model_does_not_matter() -> None:
    assert thresholds_for("mmarco-mMiniLMv2-L12-H384-v1", BUILT_IN).abstain == -4


def test_the_config_goes_before_what_is_built_in() -> None:
    mine = ZoneThresholds(model="features", abstain=-2, ok=2)
    assert thresholds_for("features", (mine, *BUILT_IN)) is mine


@pytest.mark.parametrize(("logit", "share"), [(0.0, 0.5), (-1000.0, 0.0), (1000.0, 1.0), (0.619, 0.65)])
def test_confidence_is_a_sigmoid_that_cannot_overflow(logit: float, share: float) -> None:
    assert confidence(logit) == pytest.approx(share, abs=1e-3)
