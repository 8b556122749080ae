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
        (open_name, (open_is, labels)), (errors_name, (errors_are, _)), (refusing_name, (refusing_is, _)) = (
            BREAKERS.items()
        )
        opened = GaugeMetricFamily(open_name, open_is, labels=labels)
        errors = CounterMetricFamily(errors_name, errors_are, labels=labels)
        refusing = GaugeMetricFamily(refusing_name, refusing_is, labels=labels)
        living = breakers()
        for service in sorted({breaker.service for breaker in living}):
            mine = [breaker for breaker in living if breaker.service == service]
            opened.add_metric((service,), float(any(one.state is not BreakerState.CLOSED for one in mine)))
            errors.add_metric((service,), float(sum(one.errors for one in mine)))
            refusing.add_metric((service,), float(any(one.refusal for one in mine)))
        yield opened
        yield errors
        yield refusing
