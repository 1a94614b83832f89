"""Surrogates: from observations on a grid to a posterior over the whole grid.

Notation and shapes
    m      candidates (rows) of the grid; k observed rows
    scale  'loss' or 'log': what the surrogate models, the loss or its logarithm
    y      (k,) what was observed, on that scale, one value a configuration
    mean   (m,) posterior mean on that scale, observed rows included
    sd     (m,) posterior standard deviation of the surface, without the noise of a further run

Replicates are averaged. A diverged run is an observation too: as bad as the worst loss seen. A
failed run is ignored. Pending runs are treated as observed at the posterior mean: they shrink the
deviation around them and change nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from lawsmith.errors import LawsmithError
from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.plausible import LOSS
from lawsmith.runs import Runs, State

SCALES = ("loss", "log")
Sampler = Callable[[int, np.random.Generator, IntArray], FloatArray]


class Aim(NamedTuple):
    """How the rows of a grid relate to the best loss at a target compute, at one of q places.

    covariance  (q, m) of each place's log loss with each row's
    variance    (q,) of the places
    chance      (q,) probability that a place is the best
    tuning      (m,) Σ b·Cov(f(x), c)², over the places and their bowls of curvature b and centre c
    regret      Σ b·Var c over the same: the log loss expected there because λ* is not known
    """

    covariance: FloatArray
    variance: FloatArray
    chance: FloatArray
    tuning: FloatArray
    regret: float

    @property
    def sd(self) -> float:
        """Of the best log loss."""
        return float(np.sqrt(self.chance @ self.variance))

    def gain(self, variance: FloatArray) -> FloatArray:
        """(m,) value of one run at each row, in log loss: how much it lowers the SD and the regret.

        This is the first order of the effect of one run.

        variance  (m,) of the loss of a run at each row, its noise included
        """
        off_sd = self.chance @ self.covariance**2 / (2.0 * self.sd)
        return np.asarray((off_sd + self.tuning) / variance)


class Hints(NamedTuple):
    """Log losses of r rows, predicted by something else than a run, such as the curve of a trunk.

    variance   (r,) of the error of the prediction, beside the noise of a run
    n_sharing  (r,) how many rows share that error: each of them counts that much less
    """

    rows: IntArray
    y: FloatArray
    variance: FloatArray
    n_sharing: FloatArray


@dataclass(frozen=True, eq=False)
class Posterior:
    """The prediction of a surrogate for the whole grid, on its scale.

    best        the least value observed: improvements are measured against it
    noise       SD of a run about the surface, of each row (m,) or one for all; 0 if not modelled
    sampler     (n, rng, rows) → joint draws (n, len(rows)); None if there are none
    aim         compute → `Aim` at that compute; None if the surrogate cannot look beyond its grid
    mistuned    (m,) expected excess of a row over its best λ, because that λ is not known; not
                part of ``sd``
    poor        (m,) variance that is expected to be added to the loss of a run because it is poor
    with_hints  hints → the posterior given them as well; None if the surrogate takes none
    """

    mean: FloatArray
    sd: FloatArray
    scale: str
    best: float
    sampler: Sampler | None = field(default=None, repr=False)
    noise: FloatArray | float = 0.0
    aim: Callable[[float], Aim] | None = field(default=None, repr=False)
    mistuned: FloatArray | float = 0.0
    poor: FloatArray | float = 0.0
    with_hints: Callable[[Hints], Posterior] | None = field(default=None, repr=False)

    @property
    def loss(self) -> FloatArray:
        """(m,) the predicted loss of every row: the mean, or exp(mean), the median, for logs."""
        return _unlogged(self.mean) if self.scale == "log" else self.mean

    @property
    def run_variance(self) -> FloatArray:
        """(m,) variance of one run at each row.

        A run at the expected c lies b·(u − c)² above its bowl's bottom. This has the variance
        2·(b·Var c)², which a surface that is linear in c does not include.
        """
        spread = self.sd**2 + np.asarray(self.noise) ** 2 + np.asarray(self.poor)
        return np.asarray(spread + 2.0 * np.asarray(self.mistuned) ** 2)

    def expected(self, row: int) -> dict[str, float]:
        """The expected loss of a row and its SD, by name."""
        mean, sd = float(self.mean[row]), float(self.sd[row])
        if self.scale == "log":
            mean = float(_unlogged(np.array(mean)))
            sd *= mean
        return {"expected loss": mean, "SD": sd}

    def sample(self, n: int, rng: np.random.Generator, rows: IntArray | None = None) -> FloatArray:
        """(n, len(rows)) joint draws of the surface, on its scale; of all rows by default."""
        if self.sampler is None:
            raise LawsmithError("posterior", got="a surrogate without joint draws", want="gp")
        return self.sampler(n, rng, np.arange(len(self.mean)) if rows is None else rows)


@dataclass(frozen=True)
class Refits:
    """The counts of runs at which a surrogate is refitted; in between, runs only update it.

    Every count from ``first`` to ``every_until``, then whenever the count has grown by the share
    ``growth`` or by ``most`` runs.
    """

    first: int
    every_until: int
    growth: float
    most: int = sys.maxsize

    def points(self, n: int) -> list[int]:
        """The counts, up to n."""
        counts, point = [], self.first
        while point <= n:
            counts.append(point)
            grown = min(int(point * (1.0 + self.growth)), point + self.most)
            point = point + 1 if point < self.every_until else max(point + 1, grown)
        return counts


class Surrogate(Protocol):
    """A model of the loss on a grid. Pure: the same grid and runs give the same posterior."""

    @property
    def name(self) -> str: ...

    def fit(self, grid: Grid, runs: Runs) -> Posterior: ...


@dataclass(frozen=True, eq=False)
class Hinted:
    """A surrogate that is always given the same hints; one that takes none stays as it is."""

    surrogate: Surrogate
    hints: Hints

    @property
    def name(self) -> str:
        return self.surrogate.name

    def fit(self, grid: Grid, runs: Runs) -> Posterior:
        posterior = self.surrogate.fit(grid, runs)
        if posterior.with_hints is None or not len(self.hints.rows):
            return posterior
        return posterior.with_hints(self.hints)


@dataclass(frozen=True, eq=False)
class Observations:
    """Data of a surrogate: distinct rows, their targets, and rows still pending.

    y         (k,) where all runs of a row diverged, the worst loss seen
    n_runs    (k,) how many finished runs each target is the mean of
    """

    rows: IntArray
    y: FloatArray
    n_runs: IntArray
    pending: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def first(self, n: int) -> Observations:
        """The first n observations, without pending rows."""
        return Observations(self.rows[:n], self.y[:n], self.n_runs[:n])

    def begins_with(self, other: Observations) -> bool:
        """Whether the observations of ``other`` are the first of these."""
        k = len(other.rows)
        pairs = ((self.rows, other.rows), (self.y, other.y), (self.n_runs, other.n_runs))
        return k <= len(self.rows) and all(np.array_equal(own[:k], its) for own, its in pairs)


def observations(grid: Grid, runs: Runs, scale: str) -> Observations:
    """The targets of ``runs``, rows in the order of their first finished run.

    So one more run on a new row extends the lists at their end, unless it diverged, or is the worst
    loss so far while another run had diverged.
    """
    index = runs.index[runs.finished]
    rows = index[np.sort(np.unique(index, return_index=True)[1])]
    loss = runs.config_loss(len(grid))[rows]
    known = np.isfinite(loss)
    if not known.any():
        got = "only diverged runs" if len(rows) else "no finished run"
        raise LawsmithError("surrogate", got=got, want="at least one run with a loss")
    if scale == "log":
        check_logs(loss[known])
    y = np.log(np.where(known, loss, np.nan)) if scale == "log" else loss
    n_done = runs.replicate_counts(len(grid))[rows]
    waiting = np.unique(runs.index[runs.state == State.PENDING.value])
    return Observations(
        rows=rows,
        y=np.where(known, y, y[known].max()),
        n_runs=np.maximum(n_done, 1),
        pending=np.setdiff1d(waiting, rows),
    )


def _unlogged(logs: FloatArray) -> FloatArray:
    """Losses of logs, within what is possible: far from all runs a surrogate may exceed that."""
    return np.asarray(np.exp(np.clip(logs, np.log(LOSS.low), np.log(LOSS.high))))


def check_logs(loss: FloatArray) -> None:
    """Refuse losses that have no logarithm."""
    least = float(loss.min(initial=np.inf))
    if least <= 0.0:
        want, hint = "losses above 0 for their logs", "model the loss itself"
        raise LawsmithError("surrogate", got=f"a loss of {least:g}", want=want, hint=hint)
