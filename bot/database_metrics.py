"""The figures that live in Postgres, read when somebody asks for the metrics: the same from every process."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from bot.metrics import BREAKERS, READ
from clients.breaker import BreakerState, breakers
from clients.postgres.figures import Figure, figures
from clients.postgres.pool import Database
from forum.errors import DatabaseUnavailable


class DatabaseMetrics(Collector):
    """Ledger, queue, index and health; without a database only that it is down."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def describe(self) -> list[GaugeMetricFamily]:
        """Nothing is asked of the database when the collector is registered."""
        return [GaugeMetricFamily(name, what) for name, (what, _) in READ.items()]

    def collect(self) -> Iterator[GaugeMetricFamily]:
        try:
            read = [("threadcite_database_up", (), 1.0), *figures(self._database)]
        except DatabaseUnavailable:
            read = [("threadcite_database_up", (), 0.0)]
        for name, (what, labels) in READ.items():
            family = GaugeMetricFamily(name, what, labels=labels)
            found: list[Figure] = [figure for figure in read if figure[0] == name]
            for _, values, number in found:
                family.add_metric(values, number)
            if found:
                yield family


class BreakerMetrics(Collector):
    """What this process's calls to remote services met with."""

    def describe(self) -> list[GaugeMetricFamily]:
        return []

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        (open_name, (open_is, labels)), (errors_name, (errors_are, _)) = BREAKERS.items()
        opened = GaugeMetricFamily(open_name, open_is, labels=labels)
        errors = CounterMetricFamily(errors_name, errors_are, labels=labels)
        by_service: dict[str, tuple[bool, int]] = {}
        for breaker in breakers():
            was_open, count = by_service.get(breaker.service, (False, 0))
            is_open = breaker.state is not BreakerState.CLOSED
            by_service[breaker.service] = (was_open or is_open, count + breaker.errors)
        for service, (is_open, count) in sorted(by_service.items()):
            opened.add_metric((service,), float(is_open))
            errors.add_metric((service,), float(count))
        yield opened
        yield errors
