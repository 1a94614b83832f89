"""A bar on stderr while a study is replayed: runs, spend, window, envelope, the law so far."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lawsmith.cli.console import stderr, symbol
from lawsmith.formats import flops, number, percent
from lawsmith.replay import Step, Stop, Task

if TYPE_CHECKING:
    from rich.progress import Progress

Report = Callable[[Step], None]


@contextmanager
def replaying(task: Task, stop: Stop) -> Iterator[Report]:
    """A function that shows each step; nothing is shown where stderr is no terminal."""
    with described_bars() as bars:
        bar = bars.add_task(f"{len(task.pool)} runs to choose from", total=1.0)

        def report(step: Step) -> None:
            bars.update(bar, completed=done(step, task, stop), description=described(step, task))

        yield report


def described_bars() -> Progress:
    """Bars on stderr with words beside them, gone at the end; none where it is no terminal."""
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        BarColumn(bar_width=10),
        TextColumn("{task.description}"),
        console=stderr(),
        disable=not sys.stderr.isatty(),
        transient=True,
    )


def collect(steps: Iterable[Step], report: Report) -> tuple[list[Step], bool]:
    """(the steps, whether Ctrl-C cut them short): what was found until then is kept."""
    found: list[Step] = []
    try:
        for step in steps:
            found.append(step)
            report(step)
    except KeyboardInterrupt:
        return found, True
    return found, False


def done(step: Step, task: Task, stop: Stop) -> float:
    """How much of a replay lies behind, from 0 to 1, by runs or by budget, whichever is nearer."""
    limit = min(len(task.pool), stop.iterations or len(task.pool))
    return max(step.iteration / limit, step.cost / (stop.budget or math.inf))


def described(step: Step, task: Task) -> str:
    """'43/879 runs · 1.2% spent · ≤ 3.2e20 FLOPs · envelope 61/16% · E 1.57, A 795, α -0.152'."""
    parts = [f"{step.iteration}/{len(task.pool)} runs", f"{percent(step.cost_fraction, 2)} spent"]
    if math.isfinite(step.window):
        parts.append(f"≤ {flops(step.window, 2)} FLOPs")
    shares = [share for share in (step.envelope_mixed, step.envelope_observed) if share is not None]
    parts.append(f"envelope {'/'.join(f'{100 * share:.0f}' for share in shares)}%")
    law = step.fantasized or step.observed
    if law is not None:
        values = (f"{symbol(k)} {number(v, 3)}" for k, v in law.params.items())
        parts.append(" ".join(values))
    return " · ".join(parts)
