"""The numbers of the subsets chart: the law of a whole frontier, and of a few of its points.

Every subset of SIZE frontier points has a law of its own. The chart shows one that recovers the
whole frontier's and one that does not, picked by a rule and not by eye: of the subsets whose fit
converges, the one with the least difference in predicted loss at the target, and the one at the
90th percentile of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd

from lawsmith.charts.runs import ChartUnavailable, rounded
from lawsmith.errors import unknown
from lawsmith.grid import FloatArray, IntArray
from lawsmith.laws.fit import fit_batch
from lawsmith.replay import Task

SIZE = 4
BAD = 0.9  # quantile of the differences at which the badly chosen subset lies
MAX_SUBSETS = 20_000
N_LINE = 80


@dataclass(frozen=True)
class Subset:
    """A law of some of the frontier's points.

    points       C, loss, used (bool): the whole frontier, and which of it was fitted
    line         C, loss: the law from the least compute to the target
    difference   in predicted loss at the target to the whole frontier's law, signed, in per cent
    """

    points: pd.DataFrame
    line: pd.DataFrame
    difference: float

    @property
    def n_used(self) -> int:
        return int(self.points["used"].sum())


@dataclass(frozen=True)
class SubsetsData:
    """What the subsets chart shows.

    whole, bad, good   as in the paper, from left to right
    target, loss       a compute ('1e25'), and what the whole frontier's law predicts there
    n_subsets          that there are; n_fitted of them were drawn and fitted, n_ranked converged
    """

    whole: Subset
    bad: Subset
    good: Subset
    target: str
    loss: float
    n_subsets: int
    n_fitted: int
    n_ranked: int


def subsets_data(task: Task, *, target: str = "1e25", seed: int = 0) -> SubsetsData:
    """The subsets chart's numbers; ChartUnavailable for other laws than those of compute alone."""
    law, reference = task.law, task.reference
    if law.inputs != ("C",):
        raise ChartUnavailable(f"{law.name} is not a law of compute")
    if target not in task.targets:
        raise unknown("target", target, task.targets)
    rows = reference.envelope[np.argsort(task.pool.C[reference.envelope])]
    if len(rows) <= SIZE:
        raise ChartUnavailable(f"the frontier has {len(rows)} points, no subsets of {SIZE} to pick")
    C, loss = task.pool.C[rows], task.loss[rows]
    chosen = subsets_of(len(rows), seed=seed)
    start = reference.validation.phi
    fits = fit_batch(law, np.log(C)[chosen][None], loss[chosen], start=start)
    at = np.exp(law.form.value(fits.phi, law.log_inputs(task.targets[target]))[:, 0])
    difference = 100 * (at / reference.losses[target] - 1)
    # Four points may leave a valley without a bottom: where its fit stopped means nothing.
    ranked = np.flatnonzero(fits.converged)
    if not len(ranked):
        raise ChartUnavailable("no subset's fit converges")
    good, bad = ranked[pick(difference[ranked])]

    def made(used: IntArray, phi: FloatArray, off: float) -> Subset:
        x = np.geomspace(C[0], task.targets[target]["C"], N_LINE)
        line = law.loss_at(phi, {"C": x})
        points = pd.DataFrame({"C": rounded(C), "loss": rounded(loss)})
        points["used"] = np.isin(np.arange(len(C)), used)
        return Subset(points, pd.DataFrame({"C": rounded(x), "loss": rounded(line)}), off)

    return SubsetsData(
        whole=made(np.arange(len(C)), start, 0.0),
        bad=made(chosen[bad], fits.phi[bad], float(difference[bad])),
        good=made(chosen[good], fits.phi[good], float(difference[good])),
        target=target,
        loss=reference.losses[target],
        n_subsets=comb(len(C), SIZE),
        n_fitted=len(chosen),
        n_ranked=len(ranked),
    )


def subsets_of(n: int, *, seed: int) -> IntArray:
    """(B, SIZE) all subsets of n points, ascending; MAX_SUBSETS random ones where they are more."""
    if comb(n, SIZE) <= MAX_SUBSETS:
        return np.array(list(combinations(range(n), SIZE)), dtype=np.int64)
    rng = np.random.default_rng(seed)
    # The SIZE least of random keys are a random subset; the few that come twice are dropped.
    keys = rng.random((MAX_SUBSETS, n))
    drawn = np.sort(np.argpartition(keys, SIZE, axis=1)[:, :SIZE], axis=1)
    return np.asarray(np.unique(drawn, axis=0), dtype=np.int64)


def pick(difference: FloatArray) -> IntArray:
    """(2,) the subset of least |difference|, and the one at its quantile BAD."""
    order = np.argsort(np.abs(difference), kind="stable")
    return order[[0, round(BAD * (len(order) - 1))]]
