"""Leave-one-out: how a law's prediction moves without each of its points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lawsmith.arrays import saturating
from lawsmith.grid import FloatArray
from lawsmith.laws.fit import LawFit, make_problem, pinned_phi, refit_weighted
from lawsmith.laws.optimise import leave_one_out
from lawsmith.laws.uncertainty import Uncertainty

# Refits cost n² points. With more points than MOST_REFITS all are linearised, and the most
# influential REFITTED are refitted, for it is the largest move that people are told of.
MOST_REFITS, REFITTED = 400, 20


@dataclass(frozen=True)
class Influence:
    """How the log loss predicted at the target moves without each point, (n,).

    n_refitted   points whose move is of a refit without them; that of the others is linearised
    """

    shift: FloatArray
    standard_error: float
    n_refitted: int

    @property
    def largest(self) -> int:
        return int(np.argmax(np.abs(self.shift)))


@saturating
def influence(fit: LawFit, target: Mapping[str, float], uncertainty: Uncertainty) -> Influence:
    """The move of the prediction at the target, beside its standard error."""
    x = fit.law.log_inputs(target)
    rows = np.arange(fit.n_points)
    phi = np.repeat(fit.phi[None], fit.n_points, axis=0)
    if fit.n_points > MOST_REFITS:
        phi = _linearised(fit)
        move = np.abs(_shift(fit, phi, x))
        rows = np.argsort(-move, kind="stable")[:REFITTED]
    left_out = np.arange(fit.n_points) == rows[:, None]
    phi[rows] = refit_weighted(fit, np.where(left_out, 0.0, fit.weights)).phi
    error = float(uncertainty.standard_error(target)[0])
    return Influence(_shift(fit, phi, x), error, len(rows))


def _shift(fit: LawFit, phi: FloatArray, x: FloatArray) -> FloatArray:
    """(B,) log loss of laws phi (B, p) at x (q, 1, 1), less the fit's."""
    form = fit.law.form
    return np.asarray((form.value(phi, x) - form.value(fit.phi[None], x))[:, 0])


def _linearised(fit: LawFit) -> FloatArray:
    """(n, p) one Newton step towards each refit without a point."""
    problem = make_problem(
        fit.law,
        fit.objective,
        fit.x[:, None, :],
        fit.loss[None],
        fit.weights[None],
        pinned_phi(fit.law, fit.fixed),
    )
    return leave_one_out(problem, fit.phi)
