"""What a replay is given and what it gives: Task, Reference, then a Step per run, and the Trace.

Notation and shapes
    pool        m candidate rows the search may run; the held-out rows are never run
    Π           the frontier operator of the law: the envelope the law is fitted to
    observed    the fit on Π of the runs so far
    fantasized  the fit on Π of the mixed grid: runs so far, surrogate means elsewhere
    regret      |parameter − the reference's|, natural under its name, of the log under log_<name>
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lawsmith.costs import Apart, Pricing
from lawsmith.grid import BoolArray, FloatArray, Grid, HeldOut, IntArray
from lawsmith.laws.fit import LawFit
from lawsmith.laws.law import Law
from lawsmith.surface import PUBLIC, Prior


@dataclass(frozen=True, eq=False)
class HeldOutFrontier:
    """Π of the held-out rows: where a law is judged.

    inputs   the law's inputs by name, (h,) each
    loss     (h,)
    beyond   (h,) points not dominated by the pool: below every pool loss at no more compute
    """

    inputs: Mapping[str, FloatArray]
    loss: FloatArray
    beyond: BoolArray


@dataclass(frozen=True, eq=False)
class Reference:
    """The answers of the dense grid.

    validation   the law on Π(pool): what a search is to find
    everything   the law on Π(pool and held-out), the paper's global fit
    envelope     rows of the pool in Π(pool)
    held_out_mse, held_out_mse_beyond   of the validation fit
    pool_mse     of the validation fit on Π(pool)
    losses       predicted by the validation fit at the targets, by label
    """

    validation: LawFit
    everything: LawFit
    envelope: IntArray
    held_out_mse: float
    held_out_mse_beyond: float
    pool_mse: float
    losses: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Task:
    """A finished study made a task: find the pool's law with few of its runs.

    rows      (m,) the pool's rows in the study's grid; everything else counts rows of the pool
    loss      (m,) mean loss of a configuration, NaN where all its runs diverged
    targets   label ('1e25') → the law's inputs there; a law of N and D is read at the reference's
              own best N and D of that compute
    pricing   what runs cost: each its own compute, or shared trunks only once
    prior     what earlier studies let expect of the answer
    """

    study: str
    title: str
    synthetic: bool
    notes: tuple[str, ...]
    law: Law
    hold_out: HeldOut
    pool: Grid
    rows: IntArray
    loss: FloatArray
    held_out: HeldOutFrontier
    reference: Reference
    targets: Mapping[str, Mapping[str, float]]
    pricing: Pricing = field(default_factory=Apart)
    prior: Prior = field(default=PUBLIC, repr=False)

    @cached_property
    def total_compute(self) -> float:
        """FLOPs of the whole pool: the budget that fractions are of."""
        return self.pricing.together(self.pool, np.arange(len(self.pool)))


@dataclass(frozen=True)
class Scores:
    """A law fitted on the way, and how far it is from the reference.

    extrapolation   signed difference in predicted loss to the reference, in percent, by target
    """

    params: Mapping[str, float]
    log_params: Mapping[str, float]
    n_points: int
    regret: Mapping[str, float]
    held_out_mse: float
    held_out_mse_beyond: float
    pool_mse: float
    extrapolation: Mapping[str, float]


@dataclass(frozen=True)
class Step:
    """One run of a replay and the state of the answer after it.

    iteration       runs observed so far, this one included (1, 2, …)
    candidate       its row in the pool
    loss            NaN where it diverged
    compute         FLOPs of this run; cost those of all so far, cost_fraction of the pool's total
    window          the largest compute a run was chosen from, NaN for the initial design
    observed, fantasized   None with too few points on the frontier, without a surrogate, and
                    while the initial design, which is one batch, is incomplete
    envelope_mixed, envelope_observed   share of Π(pool) recovered, by configuration
    """

    iteration: int
    candidate: int
    config: Mapping[str, float | str]
    loss: float
    compute: float
    cost: float
    cost_fraction: float
    window: float
    observed: Scores | None
    fantasized: Scores | None
    envelope_observed: float
    envelope_mixed: float | None


@dataclass(frozen=True, eq=False)
class Trace:
    """A whole replay: its task, who chose, the seed, and every step."""

    task: Task
    policy: str
    seed: int
    settings: Mapping[str, object]
    steps: tuple[Step, ...] = field(repr=False)

    @property
    def cost_fraction(self) -> FloatArray:
        """(T,) share of the pool's compute spent after each step."""
        return np.array([step.cost_fraction for step in self.steps])
