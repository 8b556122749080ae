"""A progress bar on stderr with rate and time left; silent where stderr is no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from indexer.backfill import Progress as Run


@contextmanager
def progress_bar() -> Iterator[Callable[[Run], None]]:
    """Gives the function that shows how far a run is."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:.0f} posts/s"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task("indexing", total=None, rate=0.0)

        def show(run: Run) -> None:
            rate = run.seen / run.seconds if run.seconds else 0.0
            total = None if run.total is None else max(run.total, run.before + run.seen)
            bar.update(task, completed=run.before + run.seen, total=total, rate=rate)

        yield show
