"""A bar on stderr while a work list is done: jobs, share of the work, time left, what runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from lawsmith.cli.console import stderr
from lawsmith_paper.work import Listener, Progress


@contextmanager
def working_on() -> Iterator[Listener]:
    """A function that shows progress; where stderr is no terminal only that nothing is left."""
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

    console = stderr()
    bars = Bars(
        BarColumn(bar_width=20),
        TextColumn("{task.description}"),
        console=console,
        disable=not sys.stderr.isatty(),
        transient=True,
    )
    with bars:
        bar = bars.add_task("", total=1.0)
        first = True

        def listen(progress: Progress) -> None:
            nonlocal first
            if first and progress.n_done == progress.n_jobs:
                console.print(already_done(progress.n_jobs))
            first = False
            bars.update(bar, completed=share(progress), description=described(progress))

        yield listen


def already_done(n_jobs: int) -> str:
    """'all 20 jobs are done already'."""
    if n_jobs == 0:
        return "nothing to run: its tables are computed from the data"
    return f"{'the only job is' if n_jobs == 1 else f'all {n_jobs} jobs are'} done already"


def share(progress: Progress) -> float:
    """How much of the work lies behind, from 0 to 1."""
    return progress.weight_done / progress.weight if progress.weight > 0.0 else 1.0


def described(progress: Progress) -> str:
    """'7/20 jobs · 34% · 2 min left · oellm-english window gp lcb seed 3 and 1 more'."""
    parts = [f"{progress.n_done}/{progress.n_jobs} jobs", f"{100 * share(progress):.0f}%"]
    if progress.seconds_left is not None:
        parts.append(f"{duration(progress.seconds_left)} left")
    if progress.running:
        more = len(progress.running) - 1
        parts.append(progress.running[0] + (f" and {more} more" if more else ""))
    return " · ".join(parts)


def duration(seconds: float) -> str:
    """'40 s', '7 min', '1 h 20 min': as exact as an estimate deserves."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
