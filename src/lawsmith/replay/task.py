"""A finished study made a replay task: pool and held-out split, reference fits, targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lawsmith.analysis.analyse import target_inputs
from lawsmith.analysis.fitting import check_design
from lawsmith.answer.records import Target
from lawsmith.arrays import saturating
from lawsmith.costs import Apart, Pricing
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.formats import flops
from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray, Grid, HeldOut, IntArray
from lawsmith.laws.allocation import can_allocate
from lawsmith.laws.fit import LawFit, fit_law
from lawsmith.laws.law import Law
from lawsmith.metrics import mean_squared_error, not_dominated
from lawsmith.replay.records import HeldOutFrontier, Reference, Task

TARGETS = (1e25, 1e27, 1e29)


def default_hold_out(law: Law) -> HeldOut:
    """As the paper splits: the upper half of compute, or the largest N for a law with N."""
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

    A configuration that was run several times is one candidate: its loss is the mean, its cost
    that of one run, or what ``pricing`` says. ``slice_by`` is the variable whose levels a window
    climbs: C, or N or D for slices of constant size or tokens. ``force`` takes
    a design from which the law cannot be identified.
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
    judged = _held_out(grid, loss, held, law, (pool, pool_loss))
    reference = Reference(
        validation,
        fit_law(law, law.inputs_at(grid, everywhere), loss[everywhere]),
        envelope,
        *law_errors(law, validation.phi, judged, law.inputs_at(pool, envelope), validation.loss),
        losses={label: float(validation.predict(at)[0]) for label, at in places.items()},
    )
    return Task(
        study=study.name,
        title=study.title,
        synthetic=study.synthetic,
        notes=study.notes,
        law=law,
        hold_out=split,
        pool=pool,
        rows=rows,
        loss=pool_loss,
        held_out=judged,
        reference=reference,
        targets=places,
        pricing=pricing or Apart(),
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
    there = law.loss_at(phi, held_out.inputs) if len(held_out.loss) else np.empty(0)
    return (
        mean_squared_error(there, held_out.loss),
        mean_squared_error(there, held_out.loss, held_out.beyond),
        mean_squared_error(law.loss_at(phi, inputs), loss),
    )


def _targets(law: Law, fit: LawFit, computes: Sequence[float]) -> Mapping[str, Mapping[str, float]]:
    """Label → inputs of the law; a law without C and without an N–D trade-off has no targets."""
    if law.inputs != ("C",) and not can_allocate(law):
        return {}
    for C in computes:
        if not 0.0 < C < np.inf:
            raise LawsmithError("targets", got=f"{C:g}", want="a compute above 0 FLOPs")
    return {f"{C:g}".replace("e+", "e"): target_inputs(Target(float(C)), fit) for C in computes}


def _held_out(
    grid: Grid, loss: FloatArray, held: IntArray, law: Law, pool: tuple[Grid, FloatArray]
) -> HeldOutFrontier:
    """Π of the held-out rows; for a law of C, which of them the pool does not dominate."""
    rows = held[frontier(grid.subset(held), loss[held], law.inputs)] if len(held) else held
    beyond = np.ones(len(rows), dtype=np.bool_)
    if law.inputs == ("C",):
        beyond = not_dominated(grid.C[rows], loss[rows], pool[0].C, pool[1])
    return HeldOutFrontier(law.inputs_at(grid, rows), loss[rows], beyond)
