"""The way to an answer: what was known after some of the runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lawsmith.answer import LEAST_RUNS, Target, answer
from lawsmith.charts.narrowing import Moment
from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid
from lawsmith.runs import Runs, State
from lawsmith.surface import PUBLIC, Prior

GROWTH = 1.35  # between the counts of runs at which the way to the answer is looked at


def moments(
    grid: Grid,
    runs: Runs,
    target: Target,
    spend: Callable[[Runs], float],
    *,
    level: float = 0.95,
    prior: Prior = PUBLIC,
) -> Iterator[Moment]:
    """What was known at ``target`` after more and more of the runs.

    spend   what runs cost, as a share of the dense grid
    """
    for n in ladder(LEAST_RUNS, len(runs)):
        found = moment(grid, first_runs(runs, n), target, spend, level=level, prior=prior)
        if found is not None:
            yield found


def moment(
    grid: Grid,
    runs: Runs,
    target: Target,
    spend: Callable[[Runs], float],
    *,
    level: float = 0.95,
    prior: Prior = PUBLIC,
) -> Moment | None:
    """What was known after ``runs``; None with too few of them."""
    try:
        found = answer(grid, runs, [target], level=level, prior=prior)
    except LawsmithError:
        return None
    return Moment(spend(runs), len(runs), found.forecasts[0])


def ladder(first: int, last: int) -> list[int]:
    """Counts of runs from ``first`` to ``last``, each GROWTH times the one before.

    They do not depend on ``last``, so that what was computed on the way is of use again.
    """
    counts, n = [], float(max(first, 1))
    while round(n) < last:
        counts.append(round(n))
        n = max(n * GROWTH, n + 1)
    return [*counts, last] if last >= first else []


def first_runs(runs: Runs, n: int) -> Runs:
    """The first ``n`` of the runs."""
    return Runs(runs.index[:n], runs.loss[:n], runs.state[:n])


def settled(runs: Runs) -> Runs:
    """Without pending runs."""
    kept = runs.state != State.PENDING.value
    return Runs(runs.index[kept], runs.loss[kept], runs.state[kept])
