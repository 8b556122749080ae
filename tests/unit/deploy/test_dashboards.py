"""The dashboard and the alerts ask for metrics and labels that exist."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import Counter, Histogram
from prometheus_client.metrics import MetricWrapperBase

from bot import metrics

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana" / "threadcite.json").read_text())
RULES: list[dict[str, Any]] = yaml.safe_load((DEPLOY / "prometheus" / "threadcite.rules.yml").read_text())["groups"][0][
    "rules"
]
EXPRESSIONS = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
EXPRESSIONS += [rule["expr"] for rule in RULES]


def _known() -> dict[str, set[str]]:
    known = {name: set(labels) for name, (_, labels) in metrics.READ.items()}
    known |= {"threadcite_breaker_open": {"service"}, "threadcite_remote_errors_total": {"service"}}
    known |= {"threadcite_remote_refusing": {"service"}}
    for one in vars(metrics).values():
        if isinstance(one, MetricWrapperBase):
            labels = set(one._labelnames)
            if isinstance(one, Histogram):
                known |= {f"{one._name}_bucket": labels | {"le"}, f"{one._name}_count": labels}
            else:
                known[f"{one._name}_total" if isinstance(one, Counter) else one._name] = labels
    return known


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_expression_is_about_metrics_and_labels_that_exist(expression: str) -> None:
    known = _known()
    asked = re.findall(r"threadcite_\w+", expression)
    assert asked
    assert set(asked) <= set(known)
    labels = set().union(*(known[name] for name in asked))
    for group in re.findall(r"(?:by|on) ?\(([^)]*)\)", expression):
        assert {label.strip() for label in group.split(",")} <= labels
    for name in re.findall(r"[{,](\w+)=~?\"", expression):
        assert name in labels


def test_every_metric_is_on_the_dashboard_or_in_an_alert() -> None:
    shown = " ".join(EXPRESSIONS)
    quiet = ("threadcite_asks_now", "threadcite_asks_total", "threadcite_http", "threadcite_open_gaps")
    missing = [name for name in _known() if name not in shown and not name.startswith(quiet) and "_count" not in name]
    assert missing == []


def test_every_alert_says_what_it_means() -> None:
    assert all(rule["annotations"]["summary"] and rule["labels"]["severity"] for rule in RULES)


def test_panels_do_not_overlap() -> None:
    places = [(p["gridPos"]["x"], p["gridPos"]["y"]) for p in DASHBOARD["panels"]]
    assert len(places) == len(set(places))
