"""A finished study as a replay task: pool and held-out runs, reference fits, targets.

Notation and shapes
    pool    m candidate rows that the search may run; held-out rows are never run
    Π       the frontier operator of the law: the envelope that the law is fitted to
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from lawsmith.analysis.analyse import target_inputs
from lawsmith.analysis.fitting import check_design
from lawsmith.answer.records import Target
from lawsmith.arrays import saturating
from lawsmith.costs import Pricing, SeparateRuns
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.formats import flops
from lawsmith.frontier import frontier
from lawsmith.grid import BoolArray, FloatArray, Grid, HeldOut, IntArray
from lawsmith.laws.allocation import can_allocate
from lawsmith.laws.fit import LawFit, fit_law
from lawsmith.laws.law import Law
from lawsmith.metrics import mean_squared_error, not_dominated
from lawsmith.surface import PUBLIC, Prior

TARGETS = (1e25, 1e27, 1e29)  # FLOPs; those of the paper


@dataclass(frozen=True, eq=False)
class HeldOutFrontier:
    """Π of the held-out rows, on which laws are judged.

    inputs   the law's inputs by name, (h,) each
    loss     (h,)
    beyond   (h,) points that the pool does not dominate: below every pool loss of less compute
    """

    inputs: Mapping[str, FloatArray]
    loss: FloatArray
    beyond: BoolArray


@dataclass(frozen=True, eq=False)
class Reference:
    """The laws of the dense grid.

    validation   the law of Π(pool), which a search tries to find
    everything   the law of Π(pool and held-out), the paper's global fit
    envelope     rows of the pool in Π(pool)
    held_out_mse, held_out_mse_beyond   of the validation fit
    pool_mse     of the validation fit on Π(pool)
    losses       that the validation fit predicts at the targets, by label
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
    """A finished study as a task: find the pool's law with few of its runs.

    rows      (m,) the pool's rows in the study's grid; all other rows count those of the pool
    loss      (m,) mean loss of a configuration, NaN where all its runs diverged
    targets   label ('1e25') → the law's inputs there; for a law of N and D, the best N and D of
              that compute by the reference
    pricing   what runs cost: each its own compute, or shared trunks only once
    prior     of the answer, from earlier studies
    """

    study: Study
    law: Law
    hold_out: HeldOut
    pool: Grid
    rows: IntArray
    loss: FloatArray
    held_out: HeldOutFrontier
    reference: Reference
    targets: Mapping[str, Mapping[str, float]]
    pricing: Pricing = field(default_factory=SeparateRuns)
    prior: Prior = field(default=PUBLIC, repr=False)

    @cached_property
    def total_compute(self) -> float:
        """FLOPs of the whole pool; cost fractions are relative to it."""
        return self.pricing.total(self.pool, np.arange(len(self.pool)))


def default_hold_out(law: Law) -> HeldOut:
    """The paper's split: the upper half of compute, or the largest N for a law with N."""
    return HeldOut.largest("N") if "N" in law.inputs else HeldOut.by_compute(0.5)


@saturating
def prepare(
    study: Study,
    law: Law,
    *,
    hold_out: HeldOut | None = None,
    targets: Sequence[float] = TARGETS,
    pricing: Pricing | None = None,
    slice_by: str = "C",
    force: bool = False,
) -> Task:
    """The task of finding ``law`` on the pool of ``study``.

    A configuration that was run several times is one candidate, with the mean loss and the cost of
    one run, or the cost by ``pricing``. ``slice_by`` is the variable whose levels a window climbs:
    C, or N or D for slices of constant size or tokens. ``force`` accepts a design from which the
    law cannot be identified.
    """
    split = hold_out or default_hold_out(law)
    grid, loss = replace(study.grid, slice_by=slice_by), study.runs.config_loss(len(study.grid))
    if len(np.unique(grid.C)) == 1:
        got = f"one level of compute ({flops(grid.C[0])} FLOPs)"
        raise LawsmithError(study.name, got=got, want="several, to search by compute")
    rows, held = grid.split(split)
    pool, pool_loss = grid.subset(rows), loss[rows]
    envelope = frontier(pool, pool_loss, law.inputs)
    check_design(study, law, rows[envelope], force=force)
    validation = fit_law(law, law.inputs_at(pool, envelope), pool_loss[envelope])
    everywhere = frontier(grid, loss, law.inputs)
    places = _targets(law, validation, targets)
    held_out = _held_out(grid, loss, held, law, (pool, pool_loss))
    reference = Reference(
        validation,
        fit_law(law, law.inputs_at(grid, everywhere), loss[everywhere]),
        envelope,
        *law_errors(law, validation.phi, held_out, law.inputs_at(pool, envelope), validation.loss),
        losses={label: float(validation.predict(at)[0]) for label, at in places.items()},
    )
    return Task(
        study=study,
        law=law,
        hold_out=split,
        pool=pool,
        rows=rows,
        loss=pool_loss,
        held_out=held_out,
        reference=reference,
        targets=places,
        pricing=pricing or SeparateRuns(),
    )


def law_errors(
    law: Law,
    phi: FloatArray,
    held_out: HeldOutFrontier,
    inputs: Mapping[str, FloatArray],
    loss: FloatArray,
) -> tuple[float, float, float]:
    """Mean squared errors of a law: held out, held out and beyond the pool, at the pool's points.

    inputs, loss   of the points of Π(pool)
    """
    predicted = law.loss_at(phi, held_out.inputs) if len(held_out.loss) else np.empty(0)
    return (
        mean_squared_error(predicted, held_out.loss),
        mean_squared_error(predicted, held_out.loss, held_out.beyond),
        mean_squared_error(law.loss_at(phi, inputs), loss),
    )


def _targets(law: Law, fit: LawFit, computes: Sequence[float]) -> Mapping[str, Mapping[str, float]]:
    """Label → inputs of the law; laws that cannot be read at a compute have no targets."""
    if law.inputs != ("C",) and not can_allocate(law):
        return {}
    for C in computes:
        if not 0.0 < C < np.inf:
            raise LawsmithError("targets", got=f"{C:g}", want="a compute above 0 FLOPs")
    return {f"{C:g}".replace("e+", "e"): target_inputs(Target(float(C)), fit) for C in computes}


def _held_out(
    grid: Grid, loss: FloatArray, held: IntArray, law: Law, pool: tuple[Grid, FloatArray]
) -> HeldOutFrontier:
    """Π of the held-out rows and, for a law of C, which of them the pool does not dominate."""
    rows = held[frontier(grid.subset(held), loss[held], law.inputs)] if len(held) else held
    beyond = np.ones(len(rows), dtype=np.bool_)
    if law.inputs == ("C",):
        beyond = not_dominated(grid.C[rows], loss[rows], pool[0].C, pool[1])
    return HeldOutFrontier(law.inputs_at(grid, rows), loss[rows], beyond)
