"""A batched Newton / Levenberg–Marquardt minimiser of Σ w·ρ(residual) inside bounds.

B problems advance together, each with its own damping; those that converge leave the batch. The
Hessian is exact (ρ″ and the form's curvature), so a fit ends with a gradient that vanishes to
rounding, and not merely with a small step.

Shapes as in :mod:`lawsmith.laws.law`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from lawsmith.grid import BoolArray, FloatArray
from lawsmith.laws.law import Form
from lawsmith.laws.objective import Objective

# The scaled gradient is the cosine between the residuals and the effect of a parameter. The
# objective could still fall by its square, 1e-18 of itself, which is less than rounding.
GRADIENT_TOLERANCE = 1e-9
CAREFUL_AFTER = 10  # iterations; the few problems left then are the ill-behaved ones
_EPS = np.finfo(float).eps


@dataclass(frozen=True)
class Problem:
    """A problem to minimise: the form on points x with log losses y and weights w."""

    form: Form
    objective: Objective
    x: FloatArray  # (q, B or 1, n)
    y: FloatArray  # (B, n) log losses
    w: FloatArray  # (B, n), 0 for padding
    lower: FloatArray  # (p,)
    upper: FloatArray  # (B or 1, p): that of E is the lowest loss of its own problem
    free: BoolArray  # (p,)
    additive: BoolArray  # (p,) logs whose steps are taken in natural units

    def take(self, rows: np.ndarray) -> Problem:
        """The sub-batch of those problems."""
        x = self.x if self.x.shape[1] == 1 else self.x[:, rows]
        upper = self.upper if len(self.upper) == 1 else self.upper[rows]
        return replace(self, x=x, y=self.y[rows], w=self.w[rows], upper=upper)


@dataclass(frozen=True)
class Solution:
    """phi (B, p), objective (B,), scaled gradient (B,), converged (B,)."""

    phi: FloatArray
    value: FloatArray
    gradient: FloatArray
    converged: BoolArray


class _Point(NamedTuple):
    """All values at the current phi of a batch."""

    value: FloatArray  # (B,)
    grad: FloatArray  # (B, p)
    hess: FloatArray  # (B, p, p)
    scale: FloatArray  # (B, p) Gauss–Newton diagonal, the metric of the damping
    cosine: FloatArray  # (B,) scaled gradient
    f: FloatArray  # (B, n) the form's values
    jac: FloatArray  # (B, p, n) their gradients
    pull: FloatArray  # (B, n) weight of each residual in the curvature: w·ρ″


def residuals(problem: Problem, phi: FloatArray) -> FloatArray:
    """Residuals (B, n) of log loss or of loss, depending on the objective."""
    return _misses(problem, problem.form.value(phi, problem.x))


def _misses(problem: Problem, f: FloatArray) -> FloatArray:
    if problem.objective.on == "log":
        return np.asarray(f - problem.y)
    return np.asarray(np.exp(f) - np.exp(problem.y))


def objective_value(problem: Problem, phi: FloatArray) -> FloatArray:
    """The objective (B,); +∞ if the form overflows."""
    return _total(problem, residuals(problem, phi))


def _total(problem: Problem, r: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        value = (problem.w * problem.objective.rho(r)).sum(axis=-1)
    return np.where(np.isfinite(value), value, np.inf)


def leave_one_out(problem: Problem, phi: FloatArray) -> FloatArray:
    """(n, p) one Newton step from the minimum phi (p,) of a single problem without each point.

    Without point i the gradient is −ψᵢ∇fᵢ and the Hessian loses ρ″ᵢ∇fᵢ∇fᵢᵀ (Sherman–Morrison).
    """
    point = _evaluate(problem, phi[None])
    psi = (problem.w * problem.objective.psi(residuals(problem, phi[None])))[0]
    moving = problem.free & (phi > problem.lower) & (phi < problem.upper[0])
    jac, root = point.jac[0][moving], np.sqrt(_metric(point.scale)[0][moving])
    hess = point.hess[0][np.ix_(moving, moving)] / (root[:, None] * root)
    inverse = np.linalg.pinv(hess, hermitian=True, rcond=1e-12) / (root[:, None] * root)
    step = inverse @ jac
    leverage = np.clip(point.pull[0] * (jac * step).sum(axis=0), 0.0, 0.99)
    moved = np.repeat(phi[None], len(psi), axis=0)
    moved[:, moving] += (step * psi / (1.0 - leverage)).T
    return np.clip(moved, problem.lower, problem.upper)


def _evaluate(problem: Problem, phi: FloatArray) -> _Point:
    f, jac = problem.form.value_and_jac(phi, problem.x)
    objective, w = problem.objective, problem.w
    r, scale_f = _misses(problem, f), None if objective.on == "log" else np.exp(f)
    psi, rho2 = w * objective.psi(r), w * objective.rho2(r)
    inner = psi if scale_f is None else psi * scale_f
    curv = problem.form.curvature(phi, problem.x, inner, jac)
    if scale_f is not None:
        # the loss is exp(f): its Hessian is exp(f)·(∇²f + ∇f∇fᵀ)
        jac_plain, jac = jac, jac * scale_f[:, None, :]
        curv = curv + (jac_plain * inner[:, None, :]) @ jac_plain.transpose(0, 2, 1)
    jac_t = jac.transpose(0, 2, 1)
    grad = (psi[:, None, :] @ jac_t)[:, 0, :]
    hess = (jac * rho2[:, None, :]) @ jac_t + curv
    sw = np.sqrt(w)
    scale = ((jac * sw[:, None, :]) ** 2).sum(axis=-1)
    size = np.sqrt((np.divide(psi, sw, out=np.zeros_like(psi), where=sw > 0) ** 2).sum(axis=-1))
    # In natural units u = exp φ the curvature is (φ's − gradient)/u²; the 1/u is in the step.
    index = np.flatnonzero(problem.additive)
    hess[:, index, index] -= grad[:, index]
    grad, hess = _hold_at_bounds(problem, phi, grad, hess, _metric(scale))
    # In noise-free fits ψ is as small as rounding. A gradient that rounding alone could produce is
    # no gradient, so the norm has a lower bound.
    norm = np.sqrt(np.maximum(scale, 1e-300)) * np.maximum(size, 1e-13 * sw.sum(axis=-1))[:, None]
    cosine = np.abs(grad / norm).max(axis=1)
    return _Point(_total(problem, r), grad, hess, scale, cosine, f, jac, rho2)


def _hold_at_bounds(
    problem: Problem, phi: FloatArray, grad: FloatArray, hess: FloatArray, metric: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Exclude fixed parameters, and those that are pushed against a bound, from the step.

    Each gets a curvature of 1 in the metric of the steps, so that it does not affect the others.
    """
    held = (phi <= problem.lower) & (grad > 0) | (phi >= problem.upper) & (grad < 0)
    held |= ~problem.free
    if not held.any():
        return grad, hess
    moving = ~held
    hess = hess * (moving[:, :, None] & moving[:, None, :])
    index = np.arange(phi.shape[1])
    hess[:, index, index] += held * metric
    return grad * moving, hess


def minimise(
    problem: Problem,
    start: FloatArray,
    *,
    max_iterations: int = 200,
    tolerance: float = GRADIENT_TOLERANCE,
) -> Solution:
    """Minimise every problem of the batch from ``start`` (B, p)."""
    n_problems = problem.y.shape[0]
    phi = np.clip(np.array(start, dtype=float), problem.lower, problem.upper)
    value, gradient = np.full(n_problems, np.inf), np.full(n_problems, np.inf)
    live = np.arange(n_problems)
    here, part = phi.copy(), problem
    damping, growth = np.full(n_problems, 1e-3), np.full(n_problems, 2.0)
    point = _evaluate(part, here)
    stalled = np.zeros(n_problems, dtype=int)
    # The objective for residuals of 1e-13: a noise-free fit, where the gradient is only rounding.
    floor = 0.5e-26 * problem.objective.scale * problem.w.sum(axis=-1)
    for iteration in range(1, max_iterations + 1):
        careful = iteration > CAREFUL_AFTER
        step, expected = _step(point, damping, careful=careful)
        if careful and problem.objective.on == "log":
            step = step + _bend(part, here, point, step, damping)
        trial = np.clip(_move(part, here, step), part.lower, part.upper)
        after = _evaluate(part, trial)
        gain = point.value - after.value
        slack = 64 * _EPS * np.abs(point.value)
        better = (gain > 0) | ((gain >= -slack) & (after.cosine < point.cosine))
        with np.errstate(over="ignore", invalid="ignore"):
            quality = np.where(expected > 0, gain / np.maximum(expected, 1e-300), -1.0)
        damping, growth = _adapt(damping, growth, better, quality)
        here, point = np.where(better[:, None], trial, here), _choose(better, after, point)
        # Steps no longer change the objective: it is exact to rounding.
        stalled = np.where(better & (gain > slack), 0, stalled + 1)
        exact = point.value <= floor[live]
        finished = (point.cosine <= tolerance) | (stalled >= 12) | ~np.isfinite(point.value)
        finished |= exact & (stalled >= 2)
        if finished.any() or iteration == max_iterations:
            done = finished if iteration < max_iterations else np.ones_like(finished)
            phi[live[done]], value[live[done]] = here[done], point.value[done]
            gradient[live[done]] = point.cosine[done]
            keep = np.flatnonzero(~done)
            if keep.size == 0:
                break
            live, here, part = live[keep], here[keep], part.take(keep)
            damping, growth, stalled = damping[keep], growth[keep], stalled[keep]
            point = _Point(*(part[keep] for part in point))
    converged = (gradient <= 1e3 * tolerance) | (value <= floor)
    return Solution(phi, value, gradient, converged)


def _move(problem: Problem, phi: FloatArray, step: FloatArray) -> FloatArray:
    """phi after a step; steps of additive parameters are relative: u·(1 + step)."""
    if not problem.additive.any():
        return np.asarray(phi + step)
    relative = np.log1p(np.maximum(step, -1 + 1e-15))
    return np.where(problem.additive, phi + relative, phi + step)


def _bend(
    problem: Problem, phi: FloatArray, point: _Point, step: FloatArray, damping: FloatArray
) -> FloatArray:
    """The correction (B, p) that returns a step to a curved valley; 0 if it would be too large.

    If fewer points are within Huber's δ than there are parameters, the minimum lies along a curved
    valley with walls of curvature 1, in which straight steps must be short. The residuals of the
    points within δ show how far a step leaves the valley, and the same Newton matrix corrects it.
    """
    ahead = np.clip(_move(problem, phi, step), problem.lower, problem.upper)
    miss = problem.form.value(ahead, problem.x) - point.f - (step[:, None, :] @ point.jac)[:, 0, :]
    miss = np.where(np.isfinite(miss), miss, 0.0)
    root = np.sqrt(_metric(point.scale))
    hess = point.hess / (root[:, :, None] * root[:, None, :])
    grad = (point.jac @ (point.pull * miss)[:, :, None])[:, :, 0] / root
    bend = _descent(hess, grad * (step != 0.0), damping)  # excluded parameters take no step
    size = np.linalg.norm(step * root, axis=1)
    small = np.linalg.norm(bend, axis=1) <= 0.5 * size
    return np.where(small[:, None], bend / root, 0.0)


def _metric(scale: FloatArray) -> FloatArray:
    """(B, p) the squared scale of each parameter: their units differ by orders of magnitude."""
    return np.asarray(np.maximum(scale, 1e-12 * scale.max(axis=1, keepdims=True) + 1e-300))


def _step(point: _Point, damping: FloatArray, *, careful: bool) -> tuple[FloatArray, FloatArray]:
    """The damped Newton step (B, p) and the decrease its quadratic model expects (B,)."""
    p = point.grad.shape[1]
    index = np.arange(p)
    root = np.sqrt(_metric(point.scale))
    hess = point.hess / (root[:, :, None] * root[:, None, :])
    grad = point.grad / root
    if careful:
        scaled = _descent(hess, grad, damping)
    else:
        damped = hess.copy()
        damped[:, index, index] += damping[:, None]
        try:
            scaled = -np.linalg.solve(damped, grad[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            scaled = _descent(hess, grad, damping)
    slope = (scaled * grad).sum(axis=1)
    uphill = ~(slope < 0)
    if uphill.any():
        scaled[uphill] = _descent(hess[uphill], grad[uphill], damping[uphill])
        slope = (scaled * grad).sum(axis=1)
    curve = (scaled[:, None, :] @ hess @ scaled[:, :, None])[:, 0, 0]
    return scaled / root, -(slope + 0.5 * curve)


def _descent(hess: FloatArray, grad: FloatArray, damping: FloatArray) -> FloatArray:
    """The Newton step with absolute eigenvalues, which is downhill for any Hessian.

    If fewer points are within Huber's δ than there are parameters, the Hessian is nearly singular
    or indefinite along a valley, in which steps with damping alone would be very short.
    """
    values, vectors = np.linalg.eigh(hess)
    size = np.maximum(np.abs(values), 1e-9 * np.abs(values).max(axis=1, keepdims=True) + 1e-300)
    along = (grad[:, None, :] @ vectors)[:, 0, :] / (size + damping[:, None])
    return np.asarray(-(vectors @ along[:, :, None])[:, :, 0])


def _adapt(
    damping: FloatArray, growth: FloatArray, better: BoolArray, quality: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Nielsen's rule: damping shrinks with the quality of the model, and grows on failure."""
    shrink = np.clip(1 - (2 * np.clip(quality, -1, 2) - 1) ** 3, 1 / 10, 2)
    damping = np.where(better, damping * shrink, damping * growth)
    return np.clip(damping, 1e-15, 1e12), np.where(better, 2.0, growth * 2)


def _choose(better: BoolArray, after: _Point, before: _Point) -> _Point:
    if better.all():
        return after
    pairs = zip(after, before, strict=True)
    return _Point(*(np.where(better.reshape(-1, *[1] * (a.ndim - 1)), a, b) for a, b in pairs))
