"""V-optimal: the run that most reduces the variance of the fitted law at a target, per cost.

Notation and shapes
    p      parameters of the law; phi (p,) those fitted to the best run of each cell (N, D)
    J      (m, p) gradient of log loss by phi at each row; g (p,) the same at the target
    σ²     variance of the fit's residuals
    Σ      (p, p) covariance of phi: (Σ_runs J Jᵀ / σ² + P)⁻¹, P the precision of a broad prior

    gain(x) = (gᵀ Σ J(x))² / (σ² + J(x)ᵀ Σ J(x)),  score = gain / C^γ

One more run at x lowers the variance gᵀΣg of the law at the target by gain(x): exactly, where the
law is linear. This is the classical design that Li et al. (arXiv 2604.22753) compare with their
MSPE, which adds the spread between several fits; γ is theirs. A law knows no hyperparameters: of a
cell, the run is taken whose hyperparameters are nearest those of the best run so far at about its
compute. Every finished run counts as a measurement of its cell, so that a cell is not run for ever.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lawsmith.analysis.analyse import target_inputs
from lawsmith.answer import Target
from lawsmith.costs import Pricing, SeparateRuns
from lawsmith.frontier import frontier, pareto
from lawsmith.grid import BoolArray, FloatArray, Grid, IntArray
from lawsmith.laws.catalogue import CHINCHILLA, LC
from lawsmith.laws.fit import LawFit, fit_law
from lawsmith.laws.law import Law
from lawsmith.policies.base import Choice, InitialDesign, Policy, best_row
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Surrogate

COST_EXPONENT = 0.3
NOISE_FLOOR = 1e-3  # of log loss: the residuals of a fit through as many points as parameters
SD_LEVEL, SD_COEFFICIENT, SD_EXPONENT = 1.0, 5.0, 0.3  # of the prior: E, A and B, exponents


@dataclass(frozen=True)
class VOptimal(Policy):
    """V-optimality for Chinchilla's law on a grid with N and D, for L(C) on one without.

    decades   how far above the grid's largest compute the target lies
    """

    initial: InitialDesign
    surrogate: Surrogate | None = None
    decades: float = 2.0
    cost_exponent: float = COST_EXPONENT
    pricing: Pricing = field(default_factory=SeparateRuns)
    _memory: dict[bytes, LawFit] = field(default_factory=dict, repr=False, compare=False)

    @property
    def name(self) -> str:
        return f"vopt+{self.surrogate.name if self.surrogate else 'none'}"

    def _next(
        self, grid: Grid, runs: Runs, free: BoolArray, left: float | None, rng: np.random.Generator
    ) -> Choice:
        rows, law = np.flatnonzero(free), law_on(grid)
        fit = self._fit(grid, runs, law)
        if fit is None:
            return Choice(_cheapest_new(grid, runs, rows, law), "cheapest")
        scores = self._scores(grid, runs, fit)[rows]
        cell = grid.cells(law.inputs)
        chosen = cell[best_row(rows, scores, grid.C[rows])]
        row = _as_the_best(grid, runs, rows[cell[rows] == chosen])
        return Choice(row, "least variance of the law")

    def _fit(self, grid: Grid, runs: Runs, law: Law) -> LawFit | None:
        """The law of the runs so far; None with too few points."""
        loss = runs.config_loss(len(grid))
        on = frontier(grid, loss, law.inputs)
        if len(on) < law.n_params:
            return None
        key = on.tobytes() + loss[on].tobytes()
        if key not in self._memory:
            self._memory.clear()
            self._memory[key] = fit_law(law, law.inputs_at(grid, on), loss[on])
        return self._memory[key]

    def _scores(self, grid: Grid, runs: Runs, fit: LawFit) -> FloatArray:
        """(m,) log of the gain per cost."""
        law, every = fit.law, np.arange(len(grid))
        J = gradients(fit, law.log_inputs(law.inputs_at(grid, every)))
        g = gradients(fit, law.log_inputs(self._target(grid, fit)))[0]
        measured = runs.index[runs.state != State.FAILED.value]
        measured = measured[~np.isin(measured, runs.of(State.DIVERGED).index)]
        variance = residual_variance(fit)
        cov = covariance(J[measured], variance, prior_sd(law))
        with np.errstate(divide="ignore"):  # a run that teaches nothing of the target: −∞
            return np.log(gains(J, g, cov, variance)) - self.cost_exponent * np.log(grid.C)

    def _target(self, grid: Grid, fit: LawFit) -> dict[str, float]:
        """Inputs at the target; its D/N is the law's best, within what the grid has."""
        C = 10.0**self.decades * float(grid.C.max())
        at = target_inputs(Target(C), fit)
        if "N" not in at:
            return at
        ratio = np.clip(at["D"] / at["N"], (grid.D / grid.N).min(), (grid.D / grid.N).max())
        N = float(np.sqrt(C / (6.0 * ratio)))
        return {"N": N, "D": C / (6.0 * N)}


def law_on(grid: Grid) -> Law:
    """The law whose variance counts."""
    return CHINCHILLA if {"N", "D"} <= set(grid.names) else LC


def gradients(fit: LawFit, x: FloatArray) -> FloatArray:
    """(n, p) gradient of log loss by phi at log inputs x (q, 1, n)."""
    _, jac = fit.law.form.value_and_jac(fit.phi[None], x)
    return np.asarray(jac[0].T)


def residual_variance(fit: LawFit) -> float:
    """σ² of log loss, with a floor for a fit that leaves no residuals."""
    dof = max(fit.n_points - fit.law.n_params, 1)
    return max(float((fit.residuals**2).sum()) / dof, NOISE_FLOOR**2)


def prior_sd(law: Law) -> FloatArray:
    """(p,) of phi: how far a parameter may lie from its fitted value, whatever the runs say."""
    return np.array(
        [
            SD_EXPONENT if not p.positive else SD_LEVEL if p.additive else SD_COEFFICIENT
            for p in law.params
        ]
    )


def covariance(J: FloatArray, variance: float, sd: FloatArray) -> FloatArray:
    """(p, p) Σ of runs with gradients J (k, p); scaled by the prior's SDs before it is inverted."""
    scaled = J * sd
    inverse = np.linalg.inv(scaled.T @ scaled / variance + np.eye(len(sd)))
    return np.asarray(inverse * sd[:, None] * sd)


def gains(J: FloatArray, g: FloatArray, cov: FloatArray, variance: float) -> FloatArray:
    """(m,) by how much one more run at each row lowers the variance gᵀΣg."""
    towards = J @ cov
    return np.asarray((towards @ g) ** 2 / (variance + (towards * J).sum(axis=1)))


def _cheapest_new(grid: Grid, runs: Runs, rows: IntArray, law: Law) -> int:
    """The cheapest row of a cell without a run, or of all where every cell has one."""
    cell = grid.cells(law.inputs)
    new = rows[~np.isin(cell[rows], cell[runs.index])]
    left = new if len(new) else rows
    return int(left[np.argmin(grid.C[left])])


def _as_the_best(grid: Grid, runs: Runs, rows: IntArray) -> int:
    """Of ``rows``, all of one cell, the nearest to the best run at about their compute."""
    best = pareto(grid.C, runs.config_loss(len(grid)))
    like = best[np.argmin(np.abs(np.log(grid.C[best] / grid.C[rows[0]])))]
    X = grid.unit()
    return int(rows[np.argmin(np.linalg.norm(X[rows] - X[like], axis=1))])
