"""The live answers and their shadows, compared pair by pair: what the other flags would have changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from eval.metrics import interval


def compared(pairs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """n; zones as `live>shadow` counts; share of the live citations that the shadow kept; times; each with its
    95 % interval where it is a mean. `answered` is the difference shadow - live in the share of answered questions."""
    if not pairs:
        return {"n": 0}
    answered = np.array([(p["shadow_zone"] != "abstain") - (p["live_zone"] != "abstain") for p in pairs], dtype=float)
    kept = [_kept(p) for p in pairs if p["live_cited"]]
    slower = np.array([p["shadow_ms"] - p["live_ms"] for p in pairs], dtype=float)
    disliked = [p for p in pairs if p["disliked"]]
    return {
        "n": len(pairs),
        "flags": sorted({str(p["flags"]) for p in pairs}),
        "zones": dict(Counter(f"{p['live_zone']}>{p['shadow_zone']}" for p in pairs)),
        "routes": dict(Counter(f"{p['live_route']}>{p['shadow_route']}" for p in pairs)),
        "answered": round(float(answered.mean()), 4),
        "answered_ci": interval(answered),
        "citations_kept": round(float(np.mean(kept)), 4) if kept else None,
        "ms": round(float(slower.mean()), 1),
        "ms_ci": interval(slower),
        "disliked": len(disliked),
        "disliked_now_abstained": sum(p["shadow_zone"] == "abstain" for p in disliked),
    }


def _kept(pair: dict[str, Any]) -> float:
    live, shadow = set(pair["live_cited"] or ()), set(pair["shadow_cited"] or ())
    return len(live & shadow) / len(live)
