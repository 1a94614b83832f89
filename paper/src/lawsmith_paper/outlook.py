"""Outlook: what the runs so far say of the law, with two intervals that are kept apart.

pool    of what the law of the whole pool would predict: only the runs not made are uncertain, and
        the interval closes as the pool is exhausted
truth   of the true loss at the target: that, and the noise of the runs, the selection of the
        minimum, and the misfit of the law's form

Notation and shapes
    S draws, p parameters, q inputs; ℓ (S,) log losses that plausible laws predict at a target

Both come from the same joint draws of the surrogate. For the pool, a plausible grid keeps what was
observed and has the noise of a run elsewhere; its law is one that the dense grid might have given.
For the truth, the surface itself goes through Π, so that a lucky run is not taken at its word, and
each law is shaken by what its own form leaves unexplained: the residuals of the noise-free frontier
give the parameters' covariance, Student's t its reach. A fantasized point is another one in every
draw, so it counts only as far as it is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lawsmith.arrays import BoolArray, FloatArray, IntArray
from lawsmith.charts.law import law_inputs
from lawsmith.errors import LawsmithError
from lawsmith.frontier import frontier
from lawsmith.grid import Grid
from lawsmith.laws.allocation import LOG6, best_split, can_allocate, log_optimal_n
from lawsmith.laws.fit import LawFit, fit_law
from lawsmith.laws.law import Law
from lawsmith.laws.objective import LEAST_SQUARES_LOG
from lawsmith.laws.uncertainty import Interval, covariance
from lawsmith.policies.base import Policy
from lawsmith.replay import Task
from lawsmith.replay.steps import mixed_losses
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Posterior
from lawsmith_paper.plausible import Plausible, noise_free_laws, plausible_laws

DRAWS = 400
FARTHEST = 700.0  # logs of a best N, D or D/N: what is beyond is not a float
TRIES = 50  # to move a plausible law to where it is still possible; else it stays
DOF = 4.0  # of the Student process that surfaces are drawn from; see paper/docs/outlook.md


@dataclass(frozen=True)
class Prediction:
    """The loss at a compute: by the law of the mixed grid, and its two intervals.

    inputs      where the law was read; N and D are the law's own best there
    decades     beyond the largest compute of the grid
    allocation  N, D and D/N at that compute, plausible by the draws; laws of N and D only
    """

    compute: float
    inputs: Mapping[str, float]
    loss: float
    pool: Interval
    truth: Interval
    decades: float
    allocation: Mapping[str, Interval] | None = None


@dataclass(frozen=True, eq=False)
class Outlook:
    """The law of the mixed grid and what is known of it.

    rows       (n,) of the mixed grid's frontier; observed (n,) which of them were run
    params     natural parameters of the law of the whole pool, with intervals
    """

    law: Law
    fit: LawFit
    rows: IntArray
    observed: BoolArray
    params: Mapping[str, Interval]
    predictions: tuple[Prediction, ...]
    level: float
    n_draws: int
    pool_phi: FloatArray = field(repr=False)  # (S, p)
    truth_phi: FloatArray = field(repr=False)  # (S, p)

    def at(self, compute: float) -> Prediction:
        """The prediction at one of the targets."""
        for prediction in self.predictions:
            if np.isclose(prediction.compute, compute, rtol=1e-9):
                return prediction
        known = ", ".join(f"{p.compute:g}" for p in self.predictions) or "no target"
        raise LawsmithError("target", got=f"{compute:g}", want=known)


def outlook(
    grid: Grid,
    runs: Runs,
    posterior: Posterior,
    law: Law,
    targets: Sequence[float],
    *,
    seed: int = 0,
    level: float = 0.95,
    n_draws: int = DRAWS,
) -> Outlook:
    """What ``runs`` on ``grid`` say of ``law``, its predictions at the computes ``targets``."""
    mixed = mixed_losses(len(grid), runs, posterior)
    rows = frontier(grid, mixed, law.inputs)
    rng = np.random.default_rng([seed, len(runs), 5])
    plausible = plausible_laws(law, grid, runs, posterior, n_draws, rng, dof=DOF)
    if plausible is None:
        want = f"at least {law.n_params}, the law's parameters"
        raise LawsmithError(f"frontier for {law.name}", got=f"{len(rows)} points", want=want)
    inputs = {name: grid.numbers(name)[rows] for name in law.inputs}
    fit = fit_law(law, inputs, mixed[rows], start=plausible.mixed)
    pool = _usable(plausible.phi)
    truth = _shaken(law, grid, plausible, posterior, rng)
    largest = float(grid.C.max())
    return Outlook(
        law=law,
        fit=fit,
        rows=rows,
        observed=np.isfinite(runs.config_loss(len(grid))[rows]),
        params=_parameters(law, fit, pool, level),
        predictions=tuple(
            _predict(law, fit, pool, truth, compute, largest, level) for compute in targets
        ),
        level=level,
        n_draws=n_draws,
        pool_phi=pool,
        truth_phi=truth,
    )


def _usable(phi: FloatArray) -> FloatArray:
    return phi[np.isfinite(phi).all(axis=1)]


def _shaken(
    law: Law, grid: Grid, plausible: Plausible, posterior: Posterior, rng: np.random.Generator
) -> FloatArray:
    """(S, p) laws of noise-free surfaces, each moved by the uncertainty that its misfit leaves."""
    phi = _usable(noise_free_laws(law, grid, plausible, posterior))
    mean = posterior.mean[plausible.rows]
    loss = np.exp(mean) if posterior.scale == "log" else mean
    part = grid.subset(plausible.rows)
    rows = frontier(part, loss, law.inputs)
    dof = len(rows) - law.n_params
    if dof < 1:
        return phi
    inputs = {name: part.numbers(name)[rows] for name in law.inputs}
    squares = fit_law(law, inputs, loss[rows], objective=LEAST_SQUARES_LOG, start=plausible.mixed)
    variance = float((squares.residuals**2).sum() / dof)
    root = _root(covariance(squares, variance))
    best = plausible.rows[rows[np.argmin(loss[rows])]]
    relative = posterior.sd[best] / (1.0 if posterior.scale == "log" else posterior.mean[best])
    ceiling = float(np.log(loss[rows].min()) + 2.0 * relative)
    beyond = law.log_inputs({name: [10.0 * values.max()] for name, values in inputs.items()})
    return _plausibly_moved(law, phi, root, dof, (beyond, ceiling), rng)


def _plausibly_moved(
    law: Law,
    phi: FloatArray,
    root: FloatArray,
    dof: int,
    limit: tuple[FloatArray, float],
    rng: np.random.Generator,
) -> FloatArray:
    """(S, p) each law moved by a draw of Student's t, drawn again while that is impossible.

    limit   (q, 1, 1) log inputs beyond the grid, and the log loss that a law must not exceed
            there: the best loss with more compute is not above the best with less. Far out in the
            tails the linearised parameters know nothing of that.
    """
    lower, upper = law.bounds()
    moved, open_ = phi.copy(), np.arange(len(phi))
    for _ in range(TRIES):
        n = len(open_)
        t = rng.standard_normal((n, phi.shape[1])) * np.sqrt(dof / rng.chisquare(dof, (n, 1)))
        tried = np.clip(phi[open_] + t @ root.T, lower, upper)
        good = law.form.value(tried, limit[0])[:, 0] <= limit[1]
        moved[open_[good]] = tried[good]
        open_ = open_[~good]
        if not len(open_):
            break
    return moved


def _root(cov: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh(cov)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _parameters(law: Law, fit: LawFit, phi: FloatArray, level: float) -> dict[str, Interval]:
    natural = {p.name: p.to_natural(phi[:, j]) for j, p in enumerate(law.params)}
    return {name: _interval(values, fit.params[name], level) for name, values in natural.items()}


def _predict(
    law: Law,
    fit: LawFit,
    pool: FloatArray,
    truth: FloatArray,
    compute: float,
    largest: float,
    level: float,
) -> Prediction:
    x, shares = _where(law, fit.phi, pool, compute, level)
    loss = float(np.exp(law.form.value(fit.phi[None], x[:, None, None])[0, 0]))
    of_pool, of_truth = (
        np.exp(law.form.value(phi, x[:, None, None])[:, 0]) for phi in (pool, truth)
    )
    return Prediction(
        compute=float(compute),
        inputs=dict(zip(law.inputs, np.exp(x).tolist(), strict=True)),
        loss=loss,
        pool=_interval(of_pool, float(np.median(of_pool)), level),
        truth=_interval(of_truth, float(np.median(of_truth)), level),
        decades=float(np.log10(compute / largest)),
        allocation=shares,
    )


def _where(
    law: Law, phi: FloatArray, draws: FloatArray, compute: float, level: float
) -> tuple[FloatArray, dict[str, Interval] | None]:
    """(q,) log inputs of the law at a compute, and the plausible allocations there."""
    if law.inputs == ("C",):
        return np.array([np.log(compute)]), None
    if not can_allocate(law):
        want = "a law of compute, or of N and D"
        raise LawsmithError("target", got=f"{law.name} at {compute:g} FLOPs", want=want)
    best = best_split(law, phi, compute)
    x = np.log([best[name] for name in law.inputs])
    budget = float(np.log(compute) - LOG6)
    log_n = log_optimal_n(law, np.vstack([phi[None], draws]), np.array([compute]))[:, 0]
    logs = {"N": log_n, "D": budget - log_n, "D/N": budget - 2 * log_n}
    # A plausible law with no trade-off has its best N at nothing or at everything.
    values = {name: np.exp(np.clip(v, -FARTHEST, FARTHEST)) for name, v in logs.items()}
    return x, {name: _interval(v[1:], float(v[0]), level) for name, v in values.items()}


def _interval(values: FloatArray, centre: float, level: float) -> Interval:
    low, high = np.quantile(values, [0.5 - level / 2, 0.5 + level / 2])
    return Interval(centre, float(low), float(high))


def reach(interval: Interval) -> float:
    """How far an interval reaches from its middle, relative to that."""
    middle = 0.5 * (interval.low + interval.high)
    return float((interval.high - interval.low) / 2 / middle) if middle > 0 else float("inf")


def outlook_after(
    task: Task,
    policy: Policy,
    runs: Runs,
    targets: Sequence[float],
    *,
    seed: int,
    n_draws: int = DRAWS,
) -> Outlook | None:
    """The outlook on ``targets`` (FLOPs) after ``runs`` of the pool.

    None while the initial design is incomplete, with too few points for the law, without a
    surrogate, and for one that has no joint draws.
    """
    surrogate = policy.surrogate
    if surrogate is None or not policy.searching(task.pool, runs):
        return None
    if not (runs.state == State.DONE.value).any():
        return None
    posterior = surrogate.fit(task.pool, runs)
    if posterior.sampler is None:
        return None
    try:
        return outlook(task.pool, runs, posterior, task.law, targets, seed=seed, n_draws=n_draws)
    except LawsmithError:
        return None


def band(law: Law, phi: FloatArray, draws: FloatArray, x: FloatArray, level: float) -> FloatArray:
    """(3, n) the loss of the law ``phi`` (p,) along x, and the ends among ``draws`` (S, p)."""
    at = law.log_inputs(law_inputs(law, phi, x))
    fitted = np.exp(law.form.value(phi[None], at))[0]
    losses = np.exp(law.form.value(draws, at))
    low, high = np.quantile(losses, [0.5 - level / 2, 0.5 + level / 2], axis=0)
    return np.stack([fitted, low, high])
