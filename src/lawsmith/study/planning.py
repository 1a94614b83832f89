"""A study played through before it is paid for: on surfaces drawn from a prior over its own grid.

The prior is wide: Chinchilla's law with its parameters drawn anew, a bowl for every numeric axis
with its optimum somewhere inside the axis and drifting with scale, an excess for every category,
and runs that scatter by a few tenths of a per cent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lawsmith.curves.gain import GAIN
from lawsmith.datasets.synthetic import Bowl, SyntheticSurface
from lawsmith.grid import Grid
from lawsmith.journal import Event, Journal, Kind, Ledger, Trial, make
from lawsmith.study.answer import answer_of, targets_of
from lawsmith.study.asking import propose
from lawsmith.study.history import row_of_trunk
from lawsmith.study.live import LiveStudy
from lawsmith.study.trunks import branch_point

SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Point:
    """What one draw knew after a share of the budget.

    half_width   of the interval of the best loss at each target, relative to it; NaN without one
    """

    draw: int
    share: float
    spend: float
    n_runs: int
    half_width: tuple[float, ...]


def plan(study: LiveStudy, *, draws: int) -> Iterator[Point]:
    """Points of every draw in turn, in the order of spend."""
    for draw in range(draws):
        rng = np.random.default_rng([study.spec.seed, draw, 7])
        surface = draw_surface(study.grid, rng)
        losses = surface.sample(study.grid.columns, rng)
        yield from _played(study, losses, draw)


def draw_surface(grid: Grid, rng: np.random.Generator) -> SyntheticSurface:
    """A surface of the prior over the axes of a grid."""
    bowls: dict[str, Bowl] = {}
    levels: dict[str, dict[Any, float]] = {}
    for axis in grid.axes:
        values = grid.columns[axis.name]
        if axis.name in ("N", "D"):
            continue
        if axis.kind == "log":
            bowls[axis.name] = _bowl(grid, axis.name, rng)
        else:
            excess = rng.exponential(0.01, size=len(np.unique(values)))
            names = np.unique(values).tolist()
            levels[axis.name] = dict(zip(names, (excess - excess.min()).tolist(), strict=True))
    return SyntheticSurface(
        E=float(rng.uniform(1.5, 1.9)),
        A=float(406.4 * np.exp(rng.normal(0.0, 0.3))),
        alpha=float(rng.normal(0.34, 0.02)),
        B=float(410.7 * np.exp(rng.normal(0.0, 0.3))),
        beta=float(rng.normal(0.28, 0.02)),
        bowls=bowls,
        levels=levels,
        noise=float(rng.uniform(0.001, 0.004)),
    )


def _bowl(grid: Grid, name: str, rng: np.random.Generator) -> Bowl:
    """A bowl whose optimum lies in the middle half of the axis at the middle of the ladder."""
    low, high = np.log(grid.numbers(name).min()), np.log(grid.numbers(name).max())
    middle_N, middle_D = (np.exp(np.log(grid.numbers(x)).mean()) for x in ("N", "D"))
    drift_N, drift_D = rng.normal(-0.2, 0.1), rng.normal(0.1, 0.1)
    at = rng.uniform(0.75 * low + 0.25 * high, 0.25 * low + 0.75 * high)
    # Bowl counts its drift from 1e9 parameters and 1e10 tokens.
    centre = at - drift_N * np.log(middle_N / 1e9) - drift_D * np.log(middle_D / 1e10)
    curvature = float(np.exp(rng.normal(np.log(0.012), 0.5)))
    return Bowl(float(np.exp(centre)), float(drift_N), float(drift_D), curvature)


def _played(study: LiveStudy, losses: Any, draw: int) -> Iterator[Point]:
    """One draw: ask, look the loss up, and answer at the shares of the budget."""
    # A surrogate remembers the runs it saw last: each draw has its own.
    own = replace(study, journal=Journal(study.layout.journal, Ledger()))
    ledger = own.journal.ledger
    shares = list(SHARES)
    while shares:
        found = propose(own, ledger, own.spec.runner.slots)
        for event in found:
            ledger.add(event)
        for event in found:
            for result in _results(own, losses, ledger.trials[event["trial"]]):
                ledger.add(result)
        share = ledger.spend / own.budget
        passed = [s for s in shares if share >= s - 1e-9]
        if passed or not found:
            yield _point(own, ledger, draw, share)
        shares = [s for s in shares if s not in passed] if found else []


def _results(study: LiveStudy, losses: Any, trial: Trial) -> Iterator[Event]:
    """The loss of a run at its end and, of a trunk, at every point where a branch may leave it.

    A trunk lies above the loss of its decays by what one is expected to take off.
    """
    candidates, decay = study.candidates, study.spec.trunks.decay
    if trial.kind != "trunk":
        loss = float(losses[candidates.row_of(trial.config)])
        yield make(Kind.FINISHED, trial.name, loss=loss)
        return
    above = float(np.exp(GAIN))
    for D in np.unique(study.grid.D).tolist():
        row = candidates.row_of({**trial.config, "D": D})
        at = branch_point(D, decay)
        if row is not None and trial.start < at <= trial.D:
            yield make(Kind.REPORTED, trial.name, tokens=at, loss=above * float(losses[row]))
    loss = above * float(losses[row_of_trunk(trial, candidates, decay)])
    yield make(Kind.FINISHED, trial.name, loss=loss)


def _point(study: LiveStudy, ledger: Ledger, draw: int, share: float) -> Point:
    found = answer_of(study, ledger).answer
    widths = tuple(f.half_width for f in (found.forecasts if found else ()))
    unknown = (float("nan"),) * len(targets_of(study))
    return Point(draw, share, ledger.spend, len(ledger.trials), widths or unknown)
