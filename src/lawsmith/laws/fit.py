"""Fitting a law: cold starts, minimisation, and fits of many loss vectors at once.

A cold fit (1) proposes starts, (2) moves them towards a minimum by least squares on log loss,
which has the widest basins, (3) keeps the distinct ones and (4) minimises the stated objective
until its gradient vanishes, while δ shrinks to its stated value. `fit_many` does each step for many
sets of points together: a set of twenty is so little work that numpy's cost per call dominates.
Shapes as in :mod:`lawsmith.laws.law`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from lawsmith.arrays import saturating
from lawsmith.errors import LawsmithError
from lawsmith.formats import number
from lawsmith.grid import BoolArray, FloatArray, IntArray
from lawsmith.laws.law import Law, LogPoints
from lawsmith.laws.objective import LEAST_SQUARES_LOG, Objective
from lawsmith.laws.optimise import (
    GRADIENT_TOLERANCE,
    Problem,
    Solution,
    minimise,
    objective_value,
    residuals,
)
from lawsmith.laws.starts import spread_over_bounds


@dataclass(frozen=True, repr=False)
class LawFit:
    """A finished fit: the law, its parameters, and the result of the optimiser.

    params     by name, in natural units
    status     'converged' or 'stalled'
    at_bounds  names of parameters at an end of their range

    >>> found = fit_law(get_law("LC"), {"C": [1e18, 1e19, 1e20, 1e21]}, [3.9, 3.3, 2.9, 2.6])
    >>> found
    LawFit LC, 4 points, converged: E = 1..., A = ..., alpha = -0...
    >>> found.predict({"C": [1e22, 1e23]}).shape
    (2,)
    """

    law: Law
    phi: FloatArray  # (p,)
    x: FloatArray = field(repr=False)  # (q, n) log inputs
    loss: FloatArray = field(repr=False)  # (n,)
    weights: FloatArray = field(repr=False)  # (n,)
    objective: Objective
    value: float
    status: str  # "converged" or "stalled"
    gradient: float  # scaled gradient at the end, free parameters only
    n_basins: int
    condition: float
    at_bounds: tuple[str, ...]
    fixed: Mapping[str, float]

    def __repr__(self) -> str:
        params = ", ".join(f"{name} = {number(value)}" for name, value in self.params.items())
        return f"LawFit {self.law.name}, {self.n_points} points, {self.status}: {params}"

    @property
    def n_points(self) -> int:
        return int(self.loss.size)

    @property
    def params(self) -> dict[str, float]:
        """Natural parameters by name."""
        return self.law.natural(self.phi)

    @property
    def log_params(self) -> dict[str, float]:
        """Logs of the positive parameters by name."""
        return self.law.logs(self.phi)

    @property
    def free(self) -> BoolArray:
        return self.law.free(self.fixed)

    @property
    def residuals(self) -> FloatArray:
        """Residuals of log loss: predicted minus observed, (n,)."""
        f = self.law.form.value(self.phi[None], self.x[:, None, :])[0]
        return np.asarray(f - np.log(self.loss))

    @property
    def jac(self) -> FloatArray:
        """Gradient of the log loss at the points, (p, n)."""
        return np.asarray(self.law.form.value_and_jac(self.phi[None], self.x[:, None, :])[1][0])

    @property
    def problem(self) -> Problem:
        """The problem that was minimised."""
        points = (self.x[:, None, :], self.loss[None], self.weights[None])
        return make_problem(self.law, self.objective, *points, self.fixed)

    def predict(self, inputs: Mapping[str, Any]) -> FloatArray:
        """Predicted loss at the named inputs."""
        return self.law.loss_at(self.phi, inputs)


@saturating
def fit_law(
    law: Law,
    inputs: Mapping[str, Any],
    loss: Any,
    *,
    weights: Any = None,
    objective: Objective | None = None,
    fixed: Mapping[str, float] | None = None,
    start: FloatArray | None = None,
) -> LawFit:
    """Fit a law to points; `analyse` does this for a study, with intervals and warnings.

    law        from `get_law`, or your own from `define`
    inputs     the law's inputs by name, (n,) each
    loss       (n,)
    weights    (n,) factors of each point's part of the objective
    objective  by default the one that the law's authors use
    fixed      parameters that are fixed, with their values
    start      (p,) where to start; by default many starts are tried

    >>> C = [1e18, 1e19, 1e20, 1e21]
    >>> found = fit_law(get_law("LC"), {"C": C}, [1.7 + 900 * c**-0.15 for c in C])
    >>> round(found.params["E"], 3)
    1.7
    """
    x, losses = law.log_inputs(inputs)[:, 0, :], _check_losses(loss)
    if losses.size != x.shape[1]:
        raise LawsmithError(
            "losses", got=f"{losses.size} values", want=f"{x.shape[1]}, one a point"
        )
    w = np.ones_like(losses) if weights is None else np.asarray(weights, dtype=float)
    held = dict(fixed or {})
    _check_enough(law, w, n_free=law.n_params - len(held))
    points = (x[:, None, :], losses[None], w[None])
    problem = make_problem(law, objective or law.objective, *points, held)
    starts = cold_starts(law, problem) if start is None else start[None]
    solution, _ = minima(problem, starts, np.zeros(len(starts), dtype=np.int64))
    return _finish(law, problem, solution, fixed=held)


class PointSet(NamedTuple):
    """The points that a law is fitted to.

    inputs    of the law by name, (n,) each
    loss      (n,) above 0
    weights   (n,) factors of each point's part of the objective; 1 if None
    """

    inputs: Mapping[str, Any]
    loss: FloatArray
    weights: FloatArray | None = None


@saturating
def fit_many(law: Law, sets: Sequence[PointSet]) -> FloatArray:
    """(B, p) phi of each set, fitted with the law's own objective from cold starts.

    Every set needs as many points as the law has parameters. The result agrees with `fit_law` to
    the optimiser's tolerance; its last digits depend on the other sets of the batch. A set that
    does not converge in the batch (a kink of Huber's through few points) is fitted by `fit_law`.
    """
    if not sets:
        return np.empty((0, law.n_params))
    problems = [_single(law, points) for points in sets]
    starts = [cold_starts(law, problem) for problem in problems]
    owner = np.repeat(np.arange(len(sets)), [len(start) for start in starts])
    solution, owner = minima(_stack(problems), np.concatenate(starts), owner)
    best = [best_of(solution, np.flatnonzero(owner == b)) for b in range(len(sets))]
    phi = solution.phi[best]
    for b in np.flatnonzero(~solution.converged[best]).tolist():
        phi[b] = fit_law(law, sets[b].inputs, sets[b].loss, weights=sets[b].weights).phi
    return phi


def _single(law: Law, points: PointSet) -> Problem:
    n = len(points.loss)
    if n < law.n_params:
        want = f"at least {law.n_params}"
        raise LawsmithError(law.name, got=f"{n} points in a set", want=want)
    w = np.ones(n) if points.weights is None else points.weights
    x = law.log_inputs(points.inputs)
    return make_problem(law, law.objective, x, points.loss[None], w[None], {})


def _stack(problems: Sequence[Problem]) -> Problem:
    """The problems of the sets as one problem of B rows."""
    sets = np.arange(len(problems))
    owner = np.repeat(sets, [problem.y.shape[1] for problem in problems])
    index, real = pad(owner == sets[:, None])
    x, y, w = (np.concatenate([getattr(p, part) for p in problems], axis=-1) for part in "xyw")
    upper = np.concatenate([problem.upper for problem in problems])
    return replace(problems[0], x=x[:, 0, index], y=y[0, index], w=w[0, index] * real, upper=upper)


def pad(chosen: BoolArray) -> tuple[IntArray, FloatArray]:
    """Masks (B, m) → column indices (B, n) and weights (B, n): 1 for real points, 0 for padding.

    Padding repeats the last point of its row, so that it never has an invalid value.
    """
    sizes = chosen.sum(axis=1, keepdims=True)
    place = np.arange(int(sizes.max()))
    index = np.zeros((len(chosen), len(place)), dtype=np.int64)
    index[place < sizes] = np.nonzero(chosen)[1]
    repeated = np.take_along_axis(index, np.minimum(place, sizes - 1), axis=1)
    return repeated, (place < sizes).astype(np.float64)


@saturating
def fit_batch(
    law: Law,
    x: FloatArray,
    losses: FloatArray,
    *,
    start: FloatArray,
    weights: FloatArray | None = None,
    objective: Objective | None = None,
    fixed: Mapping[str, float] | None = None,
    tolerance: float = GRADIENT_TOLERANCE,
) -> Solution:
    """Fit many loss vectors at once, starting from ``start`` ((p,) or (B, p)).

    x (q, n) for points shared by all, or (q, B, n) for a frontier each, padded with points of
    weight 0 (and any positive loss). losses (B, n). ``tolerance`` is that of the scaled
    gradient; 1e-4 is enough for resampled fits, of which only the spread is needed.
    """
    x3 = x[:, None, :] if x.ndim == 2 else x
    w = np.ones_like(losses) if weights is None else np.broadcast_to(weights, losses.shape)
    problem = make_problem(law, objective or law.objective, x3, losses, w, fixed or {})
    begin = np.broadcast_to(start, (len(losses), law.n_params))
    return _continue_delta(problem, np.clip(begin, problem.lower, problem.upper), tolerance)


def refit_weighted(
    fit: LawFit, weights: FloatArray, tolerance: float = GRADIENT_TOLERANCE
) -> Solution:
    """The same fit with other weights of its points, one fit for each row of ``weights`` (B, n)."""
    return fit_batch(
        fit.law,
        fit.x,
        np.broadcast_to(fit.loss, weights.shape),
        start=fit.phi,
        weights=weights,
        objective=fit.objective,
        fixed=fit.fixed,
        tolerance=tolerance,
    )


def _check_losses(loss: Any) -> FloatArray:
    losses = np.atleast_1d(np.asarray(loss, dtype=float))
    bad = ~(np.isfinite(losses) & (losses > 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise LawsmithError(
            f"loss of point {row}",
            got=f"{losses[row]:g}",
            want="a finite number above 0",
            hint="laws are fitted to log loss",
        )
    return losses


def _check_enough(law: Law, w: FloatArray, *, n_free: int) -> None:
    n = int(np.count_nonzero(w > 0))
    if n < n_free or n == 0:
        raise LawsmithError(
            f"{law.name}",
            got=f"{n} point{'s' if n != 1 else ''}",
            want=f"at least {n_free} ({n_free} free parameters)",
            hint="fix a parameter, add runs, or choose a law with fewer parameters",
        )


def make_problem(
    law: Law,
    objective: Objective,
    x: FloatArray,
    losses: FloatArray,
    w: FloatArray,
    fixed: Mapping[str, float],
) -> Problem:
    """The problem of fitting losses (B, n). E is at most the lowest loss of its own problem.

    fixed   parameters with fixed natural values, which become both of their bounds
    """
    lower, upper = law.bounds()
    additive = np.array([param.additive for param in law.params])
    upper = upper[None]
    if additive.any():
        lowest = np.log(np.where(w > 0, losses, np.inf).min(axis=1, keepdims=True))
        upper = np.where(additive, np.minimum(upper, lowest), upper)
    for name, value in fixed.items():
        j = law.position(name)
        lower[j] = upper[:, j] = law.params[j].to_phi(value)
    free = law.free(fixed)
    return Problem(law.form, objective, x, np.log(losses), w, lower, upper, free, additive)


def cold_starts(law: Law, problem: Problem) -> FloatArray:
    """(S, p) starts of a fit without a given start; ``problem`` is a single one."""
    held = np.flatnonzero(~problem.free)
    if law.starts is None:
        start = spread_over_bounds(*law.bounds())
        start[:, held] = problem.lower[held]
        rough = replace(problem, objective=LEAST_SQUARES_LOG)
        value = objective_value(rough.take(np.zeros(len(start), dtype=np.int64)), start)
        return start[np.argsort(value, kind="stable")[:24]]
    fixed = {int(j): float(problem.lower[j]) for j in held}
    return law.starts(LogPoints(problem.x, problem.y[0], problem.w[0]), fixed)


def minima(problem: Problem, start: FloatArray, owner: IntArray) -> tuple[Solution, IntArray]:
    """The distinct local minima of each problem as one batch, and the problem of each.

    start   (S, p), several for each problem; ``owner`` (S,) is the problem of each start
    """
    rough = replace(problem, objective=LEAST_SQUARES_LOG).take(owner)
    near = minimise(rough, start, max_iterations=60, tolerance=1e-5)
    kept: list[int] = []
    for b in range(len(problem.y)):
        rows = np.flatnonzero(owner == b)
        distinct = _distinct(problem.take(np.array([b])), near.phi[rows], near.value[rows])
        kept += rows[distinct].tolist()
    return _continue_delta(problem.take(owner[kept]), near.phi[kept]), owner[kept]


def _distinct(problem: Problem, phi: FloatArray, value: FloatArray) -> list[int]:
    """Rows of phi that differ in their predictions, best value first."""
    f = problem.form.value(phi, problem.x)
    kept: list[int] = []
    for row in np.argsort(value, kind="stable"):
        if np.isfinite(value[row]) and all(np.abs(f[row] - f[k]).max() > 1e-4 for k in kept):
            kept.append(int(row))
    return kept or [int(np.argmin(value))]


def _continue_delta(
    problem: Problem, start: FloatArray, tolerance: float = GRADIENT_TOLERANCE
) -> Solution:
    """Minimise, with larger δ first if the residuals at the start are far beyond δ.

    Only points within δ contribute to Huber's Hessian; far from the minimum there are none. Each
    stage ends near the minimum of the next one, where Newton steps are good.
    """
    objective = problem.objective
    phi = start
    if np.isfinite(objective.delta):
        spread = np.median(np.abs(residuals(problem, phi)), axis=-1).max()
        delta = spread
        while delta > 2 * objective.delta:
            stage = replace(problem, objective=replace(objective, delta=delta))
            phi = minimise(stage, phi, max_iterations=12, tolerance=1e-3).phi
            delta /= 4
    return minimise(problem, phi, tolerance=tolerance)


def best_of(solution: Solution, rows: IntArray | None = None) -> int:
    """The row of the lowest objective; if several tie to rounding, the smallest gradient wins."""
    rows = np.arange(len(solution.value)) if rows is None else rows
    tied = solution.value[rows] <= solution.value[rows].min() * (1 + 1e-12)
    return int(rows[np.argmin(np.where(tied, solution.gradient[rows], np.inf))])


def _finish(law: Law, problem: Problem, solution: Solution, *, fixed: dict[str, float]) -> LawFit:
    best = best_of(solution)
    phi = solution.phi[best]
    done = solution.converged | (solution.gradient < 1e-4)
    basins = _distinct(problem, solution.phi[done], solution.value[done]) if done.any() else []
    names = np.array(law.names)
    on_edge = problem.free & ((phi <= problem.lower) | (phi >= problem.upper[0]))
    return LawFit(
        law=law,
        phi=phi,
        x=problem.x[:, 0, :],
        loss=np.exp(problem.y[0]),
        weights=np.array(problem.w[0]),
        objective=problem.objective,
        value=float(solution.value[best]),
        status="converged" if solution.converged[best] else "stalled",
        gradient=float(solution.gradient[best]),
        n_basins=max(len(basins), 1),
        condition=_condition(law, problem, phi),
        at_bounds=tuple(str(name) for name in names[on_edge]),
        fixed=fixed,
    )


def _condition(law: Law, problem: Problem, phi: FloatArray) -> float:
    """Condition number of the free columns of the weighted Jacobian, scaled to unit length."""
    _, jac = law.form.value_and_jac(phi[None], problem.x)
    columns = (jac[0] * np.sqrt(problem.w[0]))[problem.free]
    norm = np.linalg.norm(columns, axis=1, keepdims=True)
    if columns.size == 0 or not np.all(norm > 0):
        return float("inf") if columns.size else 1.0
    return float(np.linalg.cond(columns / norm))
