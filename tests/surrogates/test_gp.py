"""The exact GP: against the textbook formulae, finite differences, Monte Carlo and itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Observations
from lawsmith.surrogates.gp import GP, KERNELS, PRIORS
from lawsmith.surrogates.gp.hyperparameters import (
    fit_hyperparameters,
    log_likelihood,
    log_posterior,
)
from lawsmith.surrogates.gp.kernel import Kernel, kernel_on
from lawsmith.surrogates.gp.model import REFITS, factor_of

EVERY_KERNEL = pytest.mark.parametrize("kernel", KERNELS)
EVERY_PRIOR = pytest.mark.parametrize("priors", list(PRIORS))


def make_grid() -> Grid:
    """3 N × 4 D × 3 lr × 2 optimisers, 72 rows."""
    N, D, lr, opt = np.meshgrid(
        [1e7, 4e7, 1.6e8], [1e9, 2e9, 4e9, 8e9], [1e-3, 3e-3, 1e-2], [0, 1], indexing="ij"
    )
    return Grid.from_columns(
        {
            "N": N.ravel(),
            "D": D.ravel(),
            "lr": lr.ravel(),
            "opt": np.array(["adam", "sgd"])[opt.ravel()],
        }
    )


def make_loss(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    bowl = 0.05 * (np.log(grid.column("lr") / 2e-3) - 0.2 * np.log(grid.N / 1e8)) ** 2
    worse = 0.1 * (grid.column("opt") == "sgd")
    law = 1.7 + 400 * grid.N**-0.34 + 400 * grid.D**-0.28
    return law * np.exp(bowl + worse + 0.003 * rng.standard_normal(len(grid)))


def textbook(kernel: Kernel, eta: np.ndarray, targets: Observations):
    """Posterior mean, covariance and log likelihood by dense inverses, loops for the kernel."""
    ell, s, v = kernel.lengthscales(eta), kernel.outputscale(eta), kernel.linear_variance(eta)
    m = len(kernel.matern)
    K = np.zeros((m, m))
    for i in range(m):
        for j in range(m):
            if len(ell):
                r = np.sqrt((((kernel.matern[i] - kernel.matern[j]) / ell) ** 2).sum())
                K[i, j] += s * (1 + np.sqrt(5) * r + 5 * r * r / 3) * np.exp(-np.sqrt(5) * r)
            K[i, j] += v * kernel.linear[i] @ kernel.linear[j]
    rows, ones = targets.rows, np.ones(len(targets.rows))
    noisy = K[np.ix_(rows, rows)] + np.diag(kernel.noise(eta) / targets.n_runs)
    inverse = np.linalg.inv(noisy)
    c = ones @ inverse @ targets.y / (ones @ inverse @ ones)
    mean = c + K[:, rows] @ inverse @ (targets.y - c)
    covariance = K - K[:, rows] @ inverse @ K[rows]
    quadratic = (targets.y - c) @ inverse @ (targets.y - c)
    determinant = np.linalg.slogdet(noisy)[1]
    return mean, covariance, -0.5 * (quadratic + determinant + len(rows) * np.log(2 * np.pi))


def some_targets(grid: Grid, k: int, rng: np.random.Generator) -> Observations:
    rows = rng.permutation(len(grid))[:k]
    y = np.log(make_loss(grid, rng))[rows]
    return Observations(rows, (y - y.mean()) / y.std(ddof=1), rng.integers(1, 4, size=k))


@EVERY_KERNEL
@EVERY_PRIOR
def test_posterior_and_likelihood_are_the_textbooks(kernel, priors):
    grid, rng = make_grid(), np.random.default_rng(1)
    built, targets = kernel_on(grid, kernel, priors), some_targets(grid, 25, rng)
    eta = built.start + 0.3 * rng.standard_normal(len(built.start))
    mean, covariance, likelihood = textbook(built, eta, targets)
    factor = factor_of(built, eta, targets)
    np.testing.assert_allclose(factor.mean(factor.constant()), mean, atol=1e-9)
    np.testing.assert_allclose(factor.variance(), np.diag(covariance), atol=1e-9)
    assert log_likelihood(built.pairs(targets.rows), eta, targets)[0] == pytest.approx(
        likelihood, abs=1e-8
    )


def test_candidates_taken_some_at_a_time_are_the_same(monkeypatch):
    grid, rng = make_grid(), np.random.default_rng(9)
    built, targets = kernel_on(grid, "matern", "lognormal"), some_targets(grid, 20, rng)
    whole = factor_of(built, built.start, targets)
    monkeypatch.setattr("lawsmith.surrogates.gp.factor.BLOCK", 1)
    monkeypatch.setattr("lawsmith.surrogates.gp.factor.WIDTH", 7)  # the last of 72 are fewer
    parts = factor_of(built, built.start, targets)
    np.testing.assert_allclose(parts.V[:20], whole.V[:20], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(parts.variance(), whole.variance(), atol=1e-12)


@EVERY_KERNEL
@EVERY_PRIOR
def test_gradient_is_that_of_finite_differences(kernel, priors):
    grid, rng = make_grid(), np.random.default_rng(2)
    built, targets = kernel_on(grid, kernel, priors), some_targets(grid, 30, rng)
    eta = built.start + 0.4 * rng.standard_normal(len(built.start))
    step = 1e-5
    slopes = [
        (
            log_posterior(built.pairs(targets.rows), eta + step * e, targets)[0]
            - log_posterior(built.pairs(targets.rows), eta - step * e, targets)[0]
        )
        / (2 * step)
        for e in np.eye(len(eta))
    ]
    np.testing.assert_allclose(
        log_posterior(built.pairs(targets.rows), eta, targets)[1], slopes, rtol=2e-6, atol=2e-6
    )


@EVERY_KERNEL
def test_one_more_observation_extends_to_what_a_new_factorisation_gives(kernel):
    grid, rng = make_grid(), np.random.default_rng(3)
    built, targets = kernel_on(grid, kernel, "lognormal"), some_targets(grid, 60, rng)
    grown = factor_of(built, built.start, _cut(targets, 8))
    for i in range(8, 60):  # far beyond the room it began with
        noise = built.noise(built.start) / int(targets.n_runs[i])
        grown.extend(int(targets.rows[i]), float(targets.y[i]), noise)
    fresh = factor_of(built, built.start, targets)
    np.testing.assert_allclose(grown.mean(0.3), fresh.mean(0.3), atol=1e-8)
    np.testing.assert_allclose(grown.variance(), fresh.variance(), atol=1e-10)
    assert grown.constant() == pytest.approx(fresh.constant(), abs=1e-9)
    np.testing.assert_allclose(grown.L[:60, :60], fresh.L[:60, :60], atol=1e-8)


def _cut(targets: Observations, k: int) -> Observations:
    return Observations(targets.rows[:k], targets.y[:k], targets.n_runs[:k])


def test_a_mean_of_four_runs_counts_as_four_observations():
    """σ²/4 on one row is the same posterior as the row observed four times with its mean."""
    grid, rng = make_grid(), np.random.default_rng(4)
    built, targets = kernel_on(grid, "matern", "lognormal"), some_targets(grid, 10, rng)
    once = np.ones(10, dtype=np.int64)
    averaged = Observations(targets.rows, targets.y, np.where(np.arange(10) == 3, 4, once))
    repeated = Observations(
        np.concatenate([targets.rows, [targets.rows[3]] * 3]),
        np.concatenate([targets.y, [targets.y[3]] * 3]),
        np.ones(13, dtype=np.int64),
    )
    mean, covariance, _ = textbook(built, built.start, repeated)
    factor = factor_of(built, built.start, averaged)
    np.testing.assert_allclose(factor.mean(factor.constant()), mean, atol=1e-9)
    np.testing.assert_allclose(factor.variance(), np.diag(covariance), atol=1e-9)


@pytest.mark.parametrize("kernel", ["matern", "matern+linear"])
def test_joint_draws_have_the_posteriors_mean_and_covariance(kernel):
    grid, rng = make_grid(), np.random.default_rng(5)
    loss = make_loss(grid, rng)
    rows = rng.permutation(len(grid))[:20]
    runs = Runs.from_losses(rows, loss[rows])
    gp = GP(kernel=kernel, scale="log")
    posterior = gp.fit(grid, runs)
    draws = posterior.sample(20_000, np.random.default_rng(6))
    y = np.log(loss[rows])
    built = kernel_on(grid, kernel, "free")
    eta = np.log(gp.hyperparameters(grid, runs))
    targets = Observations(rows, (y - y.mean()) / y.std(ddof=1), np.ones(20, dtype=np.int64))
    _, covariance, _ = textbook(built, eta, targets)
    covariance *= y.var(ddof=1)
    error = posterior.sd / np.sqrt(20_000)
    assert np.abs((draws.mean(axis=0) - posterior.mean) / error).max() < 5.0
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.abs((np.cov(draws.T) - covariance) / scale).max() < 0.05


def test_the_fit_is_a_maximum():
    grid, rng = make_grid(), np.random.default_rng(7)
    built, targets = kernel_on(grid, "matern", "lognormal"), some_targets(grid, 40, rng)
    eta = fit_hyperparameters(built, targets, [built.start])
    top = log_posterior(built.pairs(targets.rows), eta, targets)[0]
    for _ in range(50):
        near = np.maximum(eta + 0.05 * rng.standard_normal(len(eta)), built.least)
        assert log_posterior(built.pairs(targets.rows), near, targets)[0] <= top + 1e-5


@pytest.mark.parametrize(
    "refits",
    [
        REFITS,
        replace(REFITS, growth=0.1, every_until=20),
        replace(REFITS, growth=3.0, every_until=10),
    ],
)
def test_a_fresh_gp_retraces_a_long_history_to_the_last_bit(refits):
    grid, rng = make_grid(), np.random.default_rng(8)
    loss, order = make_loss(grid, rng), rng.permutation(len(grid))
    lived = GP(refits=refits)
    for n in range(1, 61):
        last = lived.fit(grid, Runs.from_losses(order[:n], loss[order[:n]]))
    fresh = GP(refits=refits).fit(grid, Runs.from_losses(order[:60], loss[order[:60]]))
    assert np.array_equal(last.mean, fresh.mean)
    assert np.array_equal(last.sd, fresh.sd)


def test_an_earlier_posterior_is_untouched_by_later_runs():
    grid, rng = make_grid(), np.random.default_rng(9)
    loss = make_loss(grid, rng)
    gp = GP()
    early = gp.fit(grid, Runs.from_losses(np.arange(25), loss[:25]))
    mean, draws = early.mean.copy(), early.sample(3, np.random.default_rng(0))
    for n in range(26, 60):
        gp.fit(grid, Runs.from_losses(np.arange(n), loss[:n]))
    assert np.array_equal(early.mean, mean)
    assert np.array_equal(early.sample(3, np.random.default_rng(0)), draws)


def test_a_changed_past_is_noticed():
    """A worse loss than any before moves every diverged target, though rows only grew by one."""
    grid, rng = make_grid(), np.random.default_rng(10)
    loss = make_loss(grid, rng)
    worst = np.append(np.argsort(loss)[:20], np.argmax(loss))
    states = np.full(21, State.DONE.value, dtype="<U8")
    states[4] = State.DIVERGED.value
    gp = GP()
    gp.fit(grid, Runs(worst[:20], loss[worst[:20]], states[:20]))
    grown = gp.fit(grid, Runs(worst, loss[worst], states))
    fresh = GP().fit(grid, Runs(worst, loss[worst], states))
    assert np.array_equal(grown.mean, fresh.mean)


def test_an_axis_with_one_value_changes_nothing():
    grid, rng = make_grid(), np.random.default_rng(11)
    loss = make_loss(grid, rng)
    runs = Runs.from_losses(np.arange(0, 72, 3), loss[::3])
    wider = Grid.from_columns({**grid.columns, "beta2": np.full(72, 0.95)})
    assert np.array_equal(GP().fit(grid, runs).mean, GP().fit(wider, runs).mean)


def test_pending_rows_shrink_the_deviation_as_an_observation_at_the_mean_would():
    grid, rng = make_grid(), np.random.default_rng(12)
    loss = make_loss(grid, rng)
    done = Runs.from_losses(np.arange(0, 30), loss[:30])
    waiting = Runs(np.array([50, 61]), np.full(2, np.nan), np.full(2, State.PENDING.value))
    gp = GP(priors="lognormal")  # well conditioned, so that both ways agree to many digits
    plain = gp.fit(grid, done)
    conditioned = gp.fit(grid, done.append(waiting))
    built = kernel_on(grid, "matern", "lognormal")
    eta = np.log(gp.hyperparameters(grid, done))
    rows = np.concatenate([np.arange(30), [50, 61]])
    _, covariance, _ = textbook(built, eta, Observations(rows, np.zeros(32), np.ones(32, np.int64)))
    spread = plain.sd / np.sqrt(
        factor_of(
            built, eta, Observations(rows[:30], np.zeros(30), np.ones(30, np.int64))
        ).variance()
    )
    np.testing.assert_allclose(conditioned.sd, spread * np.sqrt(np.diag(covariance)), rtol=1e-6)
    assert np.array_equal(conditioned.mean, plain.mean)


def test_the_whole_grid_observed_is_reproduced():
    grid, rng = make_grid(), np.random.default_rng(13)
    loss = make_loss(grid, rng)
    posterior = GP(scale="log").fit(grid, Runs.from_losses(np.arange(72), loss))
    assert np.abs(posterior.mean - np.log(loss)).max() < 0.02
    assert np.isfinite(posterior.sample(2, rng)).all()


def test_refits_refits_at_counts_that_any_longer_history_shares():
    refits = replace(REFITS, growth=0.1, every_until=20)
    long = refits.points(500)
    assert long[:12] == [*range(10, 21), 22]
    assert np.all(np.diff(long) <= np.maximum(1, 0.1 * np.array(long[:-1])))
    for n in range(11, 500):
        assert refits.points(n) == [p for p in long if p <= n]


def test_unknown_names_are_told():
    grid = make_grid()
    runs = Runs.from_losses([0, 1], [3.0, 3.1])
    with pytest.raises(LawsmithError, match=r"kernel: got 'matrn'.*did you mean matern\?"):
        GP(kernel="matrn").fit(grid, runs)
    with pytest.raises(LawsmithError, match=r"priors: got 'normal'"):
        GP(priors="normal").fit(grid, runs)


def test_a_lengthscale_lost_to_ten_runs_is_found_again():
    """Without priors ten runs may explain themselves by no correlation at all; the next refit must
    not stay there, where the likelihood has no slope."""
    grid, rng = make_grid(), np.random.default_rng(11)
    built, targets = kernel_on(grid, "matern", "free"), some_targets(grid, 40, rng)
    lost = built.start.copy()
    lost[: built.n_lengthscales] = built.least[: built.n_lengthscales]
    cold = fit_hyperparameters(built, targets, [built.start])
    both = fit_hyperparameters(built, targets, [lost, built.start])
    stuck = fit_hyperparameters(built, targets, [lost])
    heights = [
        log_posterior(built.pairs(targets.rows), eta, targets)[0] for eta in (cold, both, stuck)
    ]
    assert heights[1] == pytest.approx(heights[0], abs=1e-6)
    assert heights[2] < heights[0] - 1.0
