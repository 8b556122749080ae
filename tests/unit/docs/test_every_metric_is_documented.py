"""docs/metrics.md names every metric, and none that is not there."""

from __future__ import annotations

import re
from pathlib import Path

from prometheus_client import Counter
from prometheus_client.metrics import MetricWrapperBase

from bot import metrics

ROOT = Path(__file__).resolve().parents[3]
DOCS = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")


def _declared() -> set[str]:
    own = [value for value in vars(metrics).values() if isinstance(value, MetricWrapperBase)]
    counted = {f"{one._name}_total" if isinstance(one, Counter) else one._name for one in own}
    return (
        counted
        | set(metrics.READ)
        | {"threadcite_breaker_open", "threadcite_remote_errors_total", "threadcite_remote_refusing"}
    )


def test_the_page_names_every_metric_and_no_other() -> None:
    assert set(re.findall(r"`(threadcite_\w+)`", DOCS)) == _declared()


def test_every_label_is_explained() -> None:
    for one in vars(metrics).values():
        if isinstance(one, MetricWrapperBase):
            for label in one._labelnames:
                assert re.search(rf"`{one._name}\w*`.*`{label}`", DOCS), (one._name, label)


def test_every_metric_is_declared_in_the_one_file() -> None:
    for path in [*(ROOT / "bot").rglob("*.py"), *(ROOT / "clients").rglob("*.py")]:
        if path.name != "metrics.py":
            assert not re.search(r"\b(Counter|Gauge|Histogram|Summary)\(\s*\"", path.read_text(encoding="utf-8")), path
