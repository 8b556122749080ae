"""The durable queue in Postgres: jobs deferred in the caller's transaction, lanes of workers that outlive outages."""

from __future__ import annotations

import asyncio
import logging
import random
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

import structlog
from procrastinate import App, BaseRetryStrategy, JobContext, PsycopgConnector, RetryDecision, SyncPsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException, UniqueViolation
from procrastinate.jobs import Job as QueueJob
from procrastinate.jobs import Status
from procrastinate.worker import Worker

from clients.postgres.pool import Connection
from forum.errors import DatabaseUnavailable, RemoteUnavailable, ThreadciteError

_HEARTBEAT_S = 3.0
_STALLED_S = 12.0
_LONGEST_PAUSE_S = 300.0
#: A job that fails in a way that nobody foresaw is tried this often.
_TRIES = 3

log = structlog.get_logger("threadcite.queue")
# It says a line for every step of every job.
logging.getLogger("procrastinate").setLevel(logging.WARNING)


class TryLater(ThreadciteError):
    """The job cannot go on now; it is run again after `seconds`, without holding a worker meanwhile."""

    def __init__(self, seconds: float, reason: str = "") -> None:
        super().__init__(reason or f"again in {seconds:.0f} s")
        self.seconds = max(seconds, 0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """What is put into the queue."""

    task: str
    lane: str
    args: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    #: Two jobs with one lock never run at once, and run in the order in which they came.
    lock: str | None = None
    #: Only one job with this key waits at a time.
    key: str | None = None
    #: Higher first; within one priority, first come first served.
    priority: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Lane:
    """Workers of their own for a kind of job, so that a storm of one kind never starves another."""

    name: str
    concurrency: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Every:
    """A job that is deferred by the clock: five cron fields, and a sixth for seconds."""

    cron: str
    lane: str


class Queue:
    """Defers jobs; never opens a connection of its own."""

    def __init__(self) -> None:
        self._app = App(connector=SyncPsycopgConnector())

    def defer(self, connection: Connection, job: Job) -> bool:
        """Add a job on this connection's transaction; False when one with its key waits already."""
        deferrer = self._app.configure_task(
            job.task,
            allow_unknown=True,
            queue=job.lane,
            lock=job.lock,
            queueing_lock=job.key,
            priority=job.priority,
            task_kwargs=dict(job.args),
            connection=connection,
        )
        # Only a key can be taken; the savepoint then keeps the caller's transaction alive.
        savepoint = connection.transaction() if job.key else nullcontext()
        try:
            with savepoint:
                deferrer.defer()
        except AlreadyEnqueued:
            return False
        except ConnectorException as error:
            raise error.__cause__ or error from error
        return True


class Lanes:
    """Runs the queue's jobs until `stop` is set or the process is told to end.

    A lane that loses the database starts again by itself. A job whose worker died, or whose end could not be
    written down, runs again within some 20 s: every task must bear being run twice.
    """

    def __init__(
        self,
        url: str,
        tasks: Mapping[str, Callable[..., None]],
        lanes: Sequence[Lane],
        periodic: Mapping[str, Every] = MappingProxyType({}),
    ) -> None:
        self._url = url
        self._tasks, self._lanes, self._periodic = tasks, lanes, periodic
        self._running: set[int] = set()
        self._workers: set[int] = set()
        self._lost: set[int] = set()

    def run(self, stop: threading.Event) -> None:
        asyncio.run(self._run(stop))

    async def _run(self, stop: threading.Event) -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(sum(lane.concurrency for lane in self._lanes) + 4))
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, stop.set)
        app = self._app()
        while not stop.is_set():
            try:
                async with app.open_async():
                    await asyncio.gather(*(self._keep_lane(app, lane, stop) for lane in self._lanes))
                return
            except Exception as error:
                log.warning("queue_unreachable", error=str(error) or type(error).__name__)
                app = self._app()
                await asyncio.sleep(1)

    def _app(self) -> App:
        connector = PsycopgConnector(
            conninfo=self._url, min_size=1, max_size=len(self._lanes) + 4, timeout=5, reconnect_timeout=5
        )
        app = App(connector=connector, periodic_defaults={"max_delay": 60})
        for name, function in self._tasks.items():
            task = app.task(name=name, pass_context=True, retry=_Patience())(self._tracked(name, function))
            if every := self._periodic.get(name):
                app.periodic(cron=every.cron, queue=every.lane, queueing_lock=name)(task)
        rescue = app.task(name="rescue", pass_context=True)(self._rescue)
        prune = app.task(name="prune", pass_context=True)(_prune)
        last = self._lanes[-1].name
        app.periodic(cron="* * * * * */10", queue=last, queueing_lock="rescue")(rescue)
        app.periodic(cron="17 * * * *", queue=last, queueing_lock="prune")(prune)
        return app

    def _tracked(self, name: str, function: Callable[..., None]) -> Callable[..., None]:
        def run(context: JobContext, **args: Any) -> None:
            number = context.job.id or 0
            self._running.add(number)
            if (worker := getattr(context.job, "worker_id", None)) is not None:
                self._workers.add(worker)
            args.pop("timestamp", None)
            try:
                function(**args)
            finally:
                self._running.discard(number)

        return run

    async def _keep_lane(self, app: App, lane: Lane, stop: threading.Event) -> None:
        while not stop.is_set():
            worker = Worker(
                app,
                queues=[lane.name],
                name=lane.name,
                concurrency=lane.concurrency,
                # A job that waited for a lock is not announced when the lock is free.
                fetch_job_polling_interval=0.5,
                abort_job_polling_interval=60.0,
                install_signal_handlers=False,
                update_heartbeat_interval=_HEARTBEAT_S,
                stalled_worker_timeout=_STALLED_S,
                delete_jobs="successful",
            )
            watch = asyncio.create_task(_stop_with(worker, stop))
            try:
                await worker.run()  # type: ignore[no-untyped-call]
            except Exception as error:
                log.warning("lane_lost", lane=lane.name, error=str(error) or type(error).__name__)
            finally:
                watch.cancel()
            if not stop.is_set():
                await asyncio.sleep(1)

    async def _rescue(self, context: JobContext, timestamp: int) -> None:
        """Run again what a dead worker held, and what this process finished without being able to say so."""
        manager = context.app.job_manager
        for job in await manager.get_stalled_jobs(seconds_since_heartbeat=_STALLED_S):
            await self._again(context, job)
        doing = await manager.list_jobs_async(status="doing")
        lost = {
            job.id
            for job in doing
            if job.id and job.id != context.job.id and job.worker_id in self._workers and job.id not in self._running
        }
        # Seen twice, ten seconds apart: not merely between its end and the note of it.
        for job in doing:
            if job.id in lost & self._lost:
                await self._again(context, job)
        self._lost = lost

    async def _again(self, context: JobContext, job: QueueJob) -> None:
        log.warning("job_rescued", job=job.id, task=job.task_name)
        try:
            await context.app.job_manager.retry_job(job)
        except UniqueViolation:
            # The same job waits already: this one is done with.
            await context.app.job_manager.finish_job_by_id_async(job.id or 0, Status.FAILED, delete_job=True)


async def _prune(context: JobContext, timestamp: int) -> None:
    """Forget jobs that ended long ago."""
    await context.app.job_manager.delete_old_jobs(
        nb_hours=72, include_failed=True, include_cancelled=True, include_aborted=True
    )


async def _stop_with(worker: Worker, stop: threading.Event) -> None:
    while not stop.is_set():
        await asyncio.sleep(0.2)
    worker.stop()  # type: ignore[no-untyped-call]


class _Patience(BaseRetryStrategy):
    """Again after the pause that the job asks for; an outage is waited out; anything else gets three tries.

    Pause = min(300, 2^attempts) s, times 0.5 to 1.
    """

    def get_retry_decision(self, *, exception: BaseException, job: QueueJob) -> RetryDecision | None:
        if isinstance(exception, TryLater):
            return _in(exception.seconds)
        pause = min(_LONGEST_PAUSE_S, 2.0 ** min(job.attempts, 10)) * random.uniform(0.5, 1.0)
        if isinstance(exception, RemoteUnavailable):
            return _in(max(pause, exception.retry_after_s or 0.0))
        if isinstance(exception, DatabaseUnavailable) or job.attempts + 1 < _TRIES:
            return _in(pause)
        return None


def _in(seconds: float) -> RetryDecision:
    return RetryDecision(retry_at=datetime.now(UTC) + timedelta(seconds=seconds))
