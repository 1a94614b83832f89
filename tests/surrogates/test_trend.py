"""The trend: its gradient, its posterior against dense algebra, what it extrapolates, its tail."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lawsmith.datasets import load
from lawsmith.datasets.presets import preset_study
from lawsmith.grid import Grid
from lawsmith.runs import Runs
from lawsmith.surrogates.base import observations
from lawsmith.surrogates.gp import GP
from lawsmith.surrogates.gp.hyperparameters import Targets
from lawsmith.surrogates.trend import TrendGP
from lawsmith.surrogates.trend.fit import Scatter, TrendKernel, fit_residual, prior_eta, residual
from lawsmith.surrogates.trend.model import scatter_of
from lawsmith.surrogates.trend.shape import trend_on
from lawsmith.surrogates.trend.tail import compress, soft
from tests.surrogates.test_gp import make_grid, make_loss


@pytest.mark.parametrize("study", ["synthetic-warmstart", "synthetic-oellm-english"])
def test_the_gradient_is_that_of_finite_differences(study):
    trend = trend_on(load(study).grid, 3.0)
    rng = np.random.default_rng(0)
    theta = trend.mean + 0.5 * trend.sd * rng.standard_normal(len(trend.mean))
    step = 1e-6
    numeric = [
        (trend.value_and_jac(theta + step * e)[0] - trend.value_and_jac(theta - step * e)[0])
        / (2 * step)
        for e in np.eye(len(theta))
    ]
    np.testing.assert_allclose(trend.value_and_jac(theta)[1], np.array(numeric).T, atol=1e-8)


def test_the_trend_is_the_formula_it_says():
    grid = make_grid()
    trend = trend_on(grid, 3.0)
    rng = np.random.default_rng(1)
    theta = trend.mean + 0.3 * trend.sd * rng.standard_normal(len(trend.mean))
    n, d = (np.log(v) - 0.5 * np.log(v.min() * v.max()) for v in (grid.N, grid.D))
    u = np.log(grid.column("lr")) - 0.5 * np.log(1e-3 * 1e-2)
    lnE, lnA, lna, lnB, lnb, lnk, lnc, c0, cN, cD, bN, bD, adam, sgd = theta
    k = np.exp(lnk)
    A, B = np.exp(lnA - np.exp(lna) * n), np.exp(lnB - np.exp(lnb) * d)
    law = np.log(np.exp(lnE) + (A ** (1 / k) + B ** (1 / k)) ** k)
    effect = np.where(grid.column("opt") == "adam", adam, sgd)
    curvature = np.exp(lnc + bN * n + bD * d)
    want = law + curvature * (u - c0 - cN * n - cD * d) ** 2 + effect
    np.testing.assert_allclose(trend.value_and_jac(theta)[0], want, rtol=1e-12)


def test_the_residuals_gradient_leads_to_a_maximum():
    grid, rng = make_grid(), np.random.default_rng(2)
    X = grid.unit()
    rows = rng.permutation(72)[:40]
    y = 0.03 * rng.standard_normal(40)
    kernel = TrendKernel(X, 0.1 * rng.standard_normal((72, 5)))
    targets = Targets(rows, y, np.ones(40, dtype=np.int64))
    eta = fit_residual(kernel, targets, prior_eta(X.shape[1])[0])

    def density(at):
        mean, sd = prior_eta(X.shape[1])
        K = kernel.cross(at, rows, rows) + np.exp(at[-1]) * np.eye(40)
        value = -0.5 * y @ np.linalg.solve(K, y) - 0.5 * np.linalg.slogdet(K)[1]
        return value - 0.5 * (((at - mean) / sd) ** 2).sum()

    for _ in range(60):
        near = eta + 0.05 * rng.standard_normal(len(eta))
        assert density(near) <= density(eta) + 0.01


def test_the_posterior_is_that_of_dense_algebra():
    grid, rng = make_grid(), np.random.default_rng(3)
    loss = make_loss(grid, rng)
    rows = rng.permutation(72)[:30]
    gp = TrendGP(width=np.inf)
    posterior = gp.fit(grid, Runs.from_losses(rows, loss[rows]))
    model = gp._memory[0].model
    kernel, eta = model.kernel, model.eta
    K = residual(eta, kernel.X, kernel.X) + kernel.F @ kernel.F.T
    noisy = K[np.ix_(rows, rows)] + np.exp(eta[-1]) * np.eye(30)
    gain = K[:, rows] @ np.linalg.inv(noisy)
    mean = model.offset + gain @ (np.log(loss[rows]) - model.offset[rows])
    np.testing.assert_allclose(posterior.mean, mean, atol=1e-8)
    np.testing.assert_allclose(posterior.sd**2, np.diag(K - gain @ K[rows]), atol=1e-8)
    assert posterior.scale == "log"
    assert posterior.noise == pytest.approx(np.exp(eta[-1] / 2))


def scaled_study():
    """Runs of a Chinchilla surface with a bowl; the upper two decades of compute are not run."""
    axes = np.meshgrid(np.geomspace(1e7, 1e10, 7), np.geomspace(1e9, 1e12, 7), [1e-3, 3e-3, 1e-2])
    N, D, lr = (v.ravel() for v in axes)
    grid = Grid.from_columns({"N": N, "D": D, "lr": lr})
    bowl = 0.02 * (np.log(lr / 3e-3) + 0.2 * np.log(N / 1e8)) ** 2
    loss = np.exp(np.log(1.69 + 406.4 * N**-0.34 + 410.7 * D**-0.28) + bowl)
    noise = np.exp(0.001 * np.random.default_rng(4).standard_normal(len(N)))
    return grid, loss, loss * noise, np.flatnonzero(1e-2 * grid.C.max() > grid.C)


def test_it_extrapolates_two_decades_where_a_stationary_process_cannot():
    grid, truth, loss, seen = scaled_study()
    above = 0.5 * grid.C.max() <= grid.C
    runs = Runs.from_losses(seen, loss[seen])
    ours = np.exp(TrendGP().fit(grid, runs).mean)
    plain = np.exp(GP(scale="log").fit(grid, runs).mean)
    error = np.abs(np.log(ours / truth))[above].max()
    assert error < 0.02
    assert error < 0.3 * np.abs(np.log(plain / truth))[above].max()


def test_its_deviation_covers_its_errors():
    grid, truth, loss, seen = scaled_study()
    posterior = TrendGP().fit(grid, Runs.from_losses(seen, loss[seen]))
    unseen = np.setdiff1d(np.arange(len(grid)), seen)
    z = (np.log(truth) - posterior.mean)[unseen] / posterior.sd[unseen]
    assert np.sqrt(np.mean(z**2)) < 2.0


def test_a_fresh_process_retraces_a_history_to_the_last_bit():
    grid, rng = make_grid(), np.random.default_rng(5)
    loss, order = make_loss(grid, rng), rng.permutation(72)
    lived = TrendGP()
    for n in range(1, 41):
        last = lived.fit(grid, Runs.from_losses(order[:n], loss[order[:n]]))
    fresh = TrendGP().fit(grid, Runs.from_losses(order[:40], loss[order[:40]]))
    assert np.array_equal(last.mean, fresh.mean)
    assert np.array_equal(last.sd, fresh.sd)


def test_the_tail_keeps_the_order_and_what_is_near_the_best():
    excess = np.array([0.0, 0.01, 0.05, 0.06, 0.2, 1.5])
    soft_excess = soft(excess, 0.05)
    np.testing.assert_allclose(soft_excess[:3], excess[:3])
    assert np.all(np.diff(soft_excess) > 0)
    assert soft_excess[-1] <= 0.1
    assert soft(np.array([0.0500001]), 0.05)[0] == pytest.approx(0.0500001, rel=1e-6)


def test_the_tail_is_judged_by_runs_of_no_larger_scale():
    N, D = np.array([1.0, 1.0, 2.0, 1.0]), np.array([1.0, 1.0, 1.0, 4.0])
    y = np.array([1.0, 2.0, 0.5, 0.9])
    fine = np.zeros(4, dtype=bool)
    found, extra = compress(np.stack([N, D]), y, fine, 0.1)
    # The third has more N and the fourth more D than the first: neither bounds the other.
    assert found[[0, 2, 3]].tolist() == [1.0, 0.5, 0.9]
    assert 1.1 < found[1] <= 1.2
    # The second lies 1 above the first, 0.9 of it beyond the width: that is how far it is trusted.
    np.testing.assert_allclose(extra, [0.0, 0.81, 0.0, 0.0], atol=1e-12)
    near, none = compress(np.empty((0, 2)), np.array([1.0, 1.05]), fine[:2], 0.1)
    assert near.tolist() == [1.0, 1.05]
    assert none.tolist() == [0.0, 0.0]


def test_a_diverged_run_lies_in_the_tail_whatever_the_worst_loss_was():
    scales, y = np.zeros((1, 3)), np.array([1.0, 1.01, 1.01])
    found, extra = compress(scales, y, np.array([False, False, True]), 0.05)
    assert found[:2].tolist() == [1.0, 1.01]
    assert 1.09 < found[2] <= 1.1
    assert extra[2] == pytest.approx(0.1**2)


def test_a_diverged_run_at_a_new_size_does_not_raise_what_is_predicted_for_that_size():
    study = preset_study("synthetic-oellm-english", seed=1)
    grid, loss = study.grid, study.runs.config_loss(len(study.grid))
    top = np.isclose(grid.N, grid.N.max())
    seen = np.flatnonzero(~top & np.isfinite(loss))[::7]
    lost = np.flatnonzero(top & ~np.isfinite(loss))[:1]
    runs = Runs.from_losses(seen, loss[seen])
    before = TrendGP().fit(grid, runs)
    after = TrendGP().fit(grid, runs.append(Runs.from_losses(lost, [np.nan])))
    good = top & np.isfinite(loss)
    assert np.abs(after.mean - before.mean)[good].max() < 0.01
    assert np.abs(after.mean - np.log(loss))[good].mean() < 0.02


def test_poor_runs_do_not_set_the_scale():
    grid, rng = make_grid(), np.random.default_rng(6)
    loss = make_loss(grid, rng)
    poor = loss.copy()
    hit = rng.permutation(72)[:10]
    poor[hit] *= 3.0
    rest = np.setdiff1d(np.arange(72), hit)
    seen = np.concatenate([hit[:5], rest[:30]])
    ours = TrendGP().fit(grid, Runs.from_losses(seen, poor[seen])).mean
    plain = GP(scale="log").fit(grid, Runs.from_losses(seen, poor[seen])).mean
    unseen = rest[30:]
    error = np.abs(ours - np.log(loss))[unseen].mean()
    assert error < 0.5 * np.abs(plain - np.log(loss))[unseen].mean()


def replicated(rng, *, rows, sigma, n_runs=3):
    """A grid, the log losses of several runs of some rows of it, and those runs."""
    grid = make_grid()
    surface = np.log(make_loss(grid, np.random.default_rng(5)))
    index = np.repeat(rows, n_runs)
    y = surface[index] + sigma * rng.standard_normal(len(index))
    return grid, y, Runs.from_losses(index, np.exp(y))


def test_means_and_scatter_say_together_what_the_single_runs_say():
    rng = np.random.default_rng(11)
    rows = np.arange(0, 72, 6)
    grid, y, runs = replicated(rng, rows=rows, sigma=0.02)
    kernel = TrendKernel(grid.unit(), 0.1 * rng.standard_normal((72, 4)))
    found = observations(grid, runs, "log")
    means = y.reshape(-1, 3).mean(axis=1)
    scatter = scatter_of(found, np.zeros(len(rows)))
    assert scatter.dof == 2 * len(rows)
    assert scatter.squares == pytest.approx(((y.reshape(-1, 3) - means[:, None]) ** 2).sum())

    def densities(eta):
        """ln p of the single runs, of their means, and −ln p of the scatter, by dense algebra."""
        K = kernel.cross(eta, runs.index, runs.index) + np.exp(eta[-1]) * np.eye(len(y))
        M = kernel.cross(eta, rows, rows) + np.exp(eta[-1]) / 3 * np.eye(len(rows))
        one, mean = (
            stats.multivariate_normal(cov=c).logpdf(v) for c, v in ((K, y - 1.0), (M, means - 1.0))
        )
        return one - mean, scatter.negative(eta[-1])[0]

    start = prior_eta(kernel.d)[0]
    (single, told), (moved, told_moved) = (
        densities(start + shift * np.eye(len(start))[-1]) for shift in (0.0, 1.3)
    )
    assert moved - single == pytest.approx(-(told_moved - told), rel=1e-8)
    step = 1e-6
    slope = scatter.negative(start[-1] + step)[0] - scatter.negative(start[-1] - step)[0]
    assert scatter.negative(start[-1])[1] == pytest.approx(slope / (2 * step), rel=1e-6)


@pytest.mark.parametrize("sigma", [0.001, 0.03])
def test_replicates_tell_the_noise_from_a_rough_surface(sigma):
    grid, _, runs = replicated(np.random.default_rng(12), rows=np.arange(0, 72, 3), sigma=sigma)
    known = TrendGP(width=np.inf).fit(grid, runs)
    pooled, dof = runs.replicate_sd()
    assert dof == 48
    assert known.noise == pytest.approx(pooled, rel=0.1)
    assert pooled == pytest.approx(sigma, rel=0.3)


def test_large_noise_is_mistaken_for_the_surface_only_without_replicates():
    rng = np.random.default_rng(13)
    study = preset_study("synthetic-oellm-multilingual", 0)
    true = study.truth.loss
    rows = rng.choice(np.flatnonzero(np.isfinite(true)), 60, replace=False)
    index = np.concatenate([rows, rows[:15]])
    loss = true[index] * np.exp(0.04 * rng.standard_normal(len(index)))
    apart = TrendGP().fit(study.grid, Runs.from_losses(rows, loss[:60]))
    together = TrendGP().fit(study.grid, Runs.from_losses(index, loss))
    assert apart.noise < 0.01 < 0.025 < together.noise < 0.05


def test_poor_runs_and_copies_tell_nothing_of_the_noise():
    grid = make_grid()
    # Two runs far apart; the same run twice; two poor ones; one run; two that diverged.
    index = np.array([0, 0, 1, 1, 2, 2, 3, 4, 4])
    loss = np.array([3.0, 3.3, 3.1, 3.1, 6.0, 7.0, 3.2, np.nan, np.nan])
    found = observations(grid, Runs.from_losses(index, loss), "log")
    assert found.squares[0] == pytest.approx(np.log(1.1) ** 2 / 2)
    assert found.squares[2] == pytest.approx(np.log(7 / 6) ** 2 / 2)
    assert found.squares[[1, 3, 4]].tolist() == [0.0, 0.0, 0.0]
    beyond = np.where(found.rows == 2, 0.1, 0.0)
    assert scatter_of(found, beyond) == Scatter(found.squares[0], 1)


def test_a_few_rows_far_apart_do_not_speak_for_all():
    rng = np.random.default_rng(16)
    grid, y, runs = replicated(rng, rows=np.arange(0, 72, 2), sigma=0.005)
    plain = scatter_of(observations(grid, runs, "log"), np.zeros(36))
    assert plain.squares == pytest.approx(0.005**2 * 72, rel=0.25)
    wild = y.reshape(-1, 3).copy()
    wild[::9] = wild[::9].mean(axis=1, keepdims=True) + 0.1 * rng.standard_normal((4, 3))
    found = observations(grid, Runs.from_losses(runs.index, np.exp(wild.ravel())), "log")
    assert found.squares.sum() > 20 * plain.squares
    assert scatter_of(found, np.zeros(36)).squares < 1.6 * plain.squares


def test_the_order_of_replicates_does_not_matter():
    rng = np.random.default_rng(14)
    grid, _, runs = replicated(rng, rows=np.arange(0, 72, 5), sigma=0.01)
    within = np.concatenate([3 * i + rng.permutation(3) for i in range(len(runs) // 3)])
    other = Runs(runs.index[within], runs.loss[within], runs.state[within])
    one, two = (TrendGP().fit(grid, r) for r in (runs, other))
    np.testing.assert_array_equal(one.mean, two.mean)
    assert one.noise == two.noise


def test_without_replicates_nothing_is_added_to_the_likelihood(monkeypatch):
    def refuse(self, log_variance):
        raise AssertionError("no replicates")

    monkeypatch.setattr(Scatter, "negative", refuse)
    grid, rng = make_grid(), np.random.default_rng(15)
    loss = make_loss(grid, rng)
    TrendGP().fit(grid, Runs.from_losses(np.arange(20), loss[:20]))
    with pytest.raises(AssertionError, match="no replicates"):
        TrendGP().fit(grid, Runs.from_losses([*range(20), 0], [*loss[:20], 1.01 * loss[0]]))
