"""The gain of a decay: closed forms, odd runs and odd trunks, intervals on drawn trunks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import t as student

from lawsmith.curves.gain import (
    BEND_LENGTH,
    BETA,
    BETA_SD,
    BY_SIZE_SD,
    DFS,
    GAIN,
    GAIN_SD,
    MARGIN,
    UNTRIED,
    Centre,
    Rows,
    _slopes,
    effective_df,
    fit_gain,
)


def rows_of(n_trunks: int, n: int) -> Rows:
    trunk = np.repeat(np.arange(n_trunks), n)
    log_N = np.log(np.repeat(np.geomspace(1e8, 1e9, n_trunks), n))
    log_D = np.log(np.tile(np.geomspace(1e10, 1e11, n), n_trunks))
    return Rows(trunk, log_N, log_D, np.full(n_trunks * n, 0.1))


def matern_52(r: np.ndarray) -> np.ndarray:
    s = np.sqrt(5.0) * r
    return (1.0 + s + s**2 / 3.0) * np.exp(-s)


def draw(rows: Rows, rng, *, a=0.002, noise=2e-4, heavy=False):
    """Gains with a trunk's own offset; Student's t with 2 degrees of freedom if ``heavy``."""
    n = int(rows.trunk.max()) + 1
    offset = a * (rng.standard_t(2, n) if heavy else rng.standard_normal(n))
    d = 0.03 - 0.002 * (rows.log_N - 20.0) + 0.001 * (rows.log_D - 24.5) + offset[rows.trunk]
    return d + noise * rng.standard_normal(len(rows))


def test_without_branches_a_decay_takes_off_what_the_prior_says():
    none = Rows(np.arange(0), *(np.empty(0),) * 3)
    at = Rows(np.array([0]), np.array([20.0]), np.array([25.0]), np.full(1, 0.1))
    fit = fit_gain(
        none, np.empty(0), np.empty(0), np.empty((0, 0)), Centre(20.0, 24.0, np.log(0.1))
    )
    told = fit.predict(at, np.array([1.1]), np.array([[1e-6]]), np.empty((1, 0)))
    a2 = float(np.exp(2.0 * fit.eta[0]) + np.exp(2.0 * fit.eta[3]))
    assert told.mean == pytest.approx([1.1 - GAIN])
    expected = MARGIN**2 * (GAIN_SD**2 + BY_SIZE_SD**2 + a2 + 1e-6)  # one e-fold of D from there
    assert told.cov[0, 0] == pytest.approx(expected)


def test_a_target_is_conditioned_on_the_branches_as_a_joint_normal_is():
    rng = np.random.default_rng(1)
    rows = rows_of(3, 3)
    B = 1e-3 * rng.standard_normal((11, 11))
    T = B @ B.T  # errors of the trunks at nine branches and two targets
    at = rows.take(np.array([0, 4]))
    y = 1.0 - draw(rows, rng)
    fit = fit_gain(rows, y, np.ones(9), T[:9, :9], Centre.of(rows))
    told = fit.predict(at, np.array([0.9, 0.8]), T[9:, 9:], T[9:, :9])
    whole = rows.join(at)
    X, mean, sd = fit.centre.X(whole), BETA, BETA_SD
    scale = np.array([1.0 / fit.tau[i] for i in whole.trunk.tolist()])
    size = np.exp(fit.eta)
    a = size[0] * np.exp(-fit.eta[4] * fit.centre.below(whole))
    same = whole.trunk[:, None] == whole.trunk
    n, d = (np.subtract.outer(v, v) for v in (whole.log_N, whole.log_D))
    own = np.outer(a, a) * 0.5 * (1.0 + matern_52(np.abs(d) / size[1]))
    K = (X * sd**2) @ X.T + np.where(same, scale[:, None] * own, 0.0) + T
    K += size[3] ** 2 * matern_52(np.hypot(n, d) / BEND_LENGTH)
    # y = t + error − gain, so targets go against the gains d = t − y of the branches.
    K[:9, :9] += np.diag(fit.noise(rows) / fit.w)
    K[:9, 9:] *= -1.0
    K[9:, :9] *= -1.0
    solved = K[9:, :9] @ np.linalg.inv(K[:9, :9])
    off = np.ones(9) - y - X[:9] @ mean
    assert told.mean == pytest.approx(np.array([0.9, 0.8]) - X[9:] @ mean + solved @ off)
    cov = K[9:, 9:] - solved @ K[:9, 9:]
    assert told.cov == pytest.approx(MARGIN**2 * cov, abs=1e-12)


def test_one_odd_run_does_not_move_what_is_said_of_its_trunk():
    rng = np.random.default_rng(2)
    rows = rows_of(6, 5)
    y = 1.0 - draw(rows, rng)
    bad = y.copy()
    bad[12] += 0.03
    at, zero = rows.take(np.array([13])), np.zeros((30, 30))
    told = [
        fit_gain(rows, v, np.ones(30), zero, Centre.of(rows)).predict(
            at, np.ones(1), np.zeros((1, 1)), np.zeros((1, 30))
        )
        for v in (y, bad)
    ]
    assert told[1].mean[0] == pytest.approx(told[0].mean[0], abs=5e-4)
    assert told[1].cov[0, 0] < (0.005) ** 2


@pytest.mark.parametrize("heavy", [False, True])
def test_intervals_hold_on_trunks_without_branches(heavy):
    rng = np.random.default_rng(3)
    rows = rows_of(11, 4)
    known, new = rows.trunk < 10, np.flatnonzero(rows.trunk == 10)
    inside, widths = [], []
    for _ in range(40):
        d = draw(rows, rng, heavy=heavy)
        fit = fit_gain(
            rows.take(known), -d[known], np.zeros(40), np.zeros((40, 40)), Centre.of(rows)
        )
        told = fit.predict(rows.take(new[:1]), np.zeros(1), np.zeros((1, 1)), np.zeros((1, 40)))
        half = student.ppf(0.975, told.df[0]) * np.sqrt(told.cov[0, 0] + told.noise[0])
        inside.append(abs(-d[new[0]] - told.mean[0]) <= half)
        widths.append(half)
    assert np.mean(inside) >= 0.9
    assert np.median(widths) < 0.02  # the gain itself is 0.03


def test_degrees_of_freedom_have_the_interval_of_the_mixture():
    chance = np.arange(1.0, len(DFS) + 1.0)
    chance /= chance.sum()
    df = effective_df(chance, np.zeros(3, dtype=bool))
    q = student.ppf(0.975, df)
    assert chance @ student.sf(q, DFS) == pytest.approx(0.025, rel=1e-3)


def test_a_gain_that_grows_with_the_rate_is_told_for_a_rate_that_no_branch_has():
    rng = np.random.default_rng(8)
    plain = rows_of(12, 4)
    v = np.tile(np.log([1e-3, 2e-3, 4e-3, 8e-3]), 3)[plain.trunk][:, None]
    rows = Rows(plain.trunk, plain.log_N, plain.log_D, plain.share, v)
    d = draw(rows, rng, a=5e-4) + 0.04 * (v[:, 0] - np.log(2e-3))
    known = np.flatnonzero(~np.isclose(v[:, 0], np.log(4e-3)))
    at = rows.take(np.flatnonzero(np.isclose(v[:, 0], np.log(4e-3))))
    n = len(known)
    some = rows.take(known)
    fit = fit_gain(some, -d[known], np.zeros(n), np.zeros((n, n)), Centre.of(some))
    q = len(at)
    told = fit.predict(at, np.zeros(q), np.zeros((q, q)), np.zeros((q, n)))
    truth = np.delete(d, known)
    assert -told.mean == pytest.approx(truth, abs=0.004)
    # Without the rate, the trunks that were left out look like the others.
    blind = Rows(some.trunk, some.log_N, some.log_D, some.share)
    fit = fit_gain(blind, -d[known], np.zeros(n), np.zeros((n, n)), Centre.of(blind))
    wide = fit.predict(at, np.zeros(q), np.zeros((q, q)), np.zeros((q, n)))
    assert np.median(wide.cov.diagonal()) > 20.0 * np.median(told.cov.diagonal())


def test_what_a_decay_gains_is_less_known_at_a_rate_beyond_those_of_all_branches():
    rng = np.random.default_rng(9)
    plain = rows_of(12, 4)
    v = np.tile(np.log([1e-3, 2e-3, 4e-3]), 4)[plain.trunk][:, None]
    rows = Rows(plain.trunk, plain.log_N, plain.log_D, plain.share, v)
    fit = fit_gain(rows, -draw(rows, rng), np.zeros(48), np.zeros((48, 48)), Centre.of(rows))

    def variance(*rates: float) -> list[float]:
        """Of three decays of one new trunk, at these rates, beside what the branches explain."""
        hp = np.log(rates)[:, None]
        at = Rows(np.full(3, 99), np.full(3, 20.0), np.full(3, 24.5), np.full(3, 0.1), hp)
        told = fit.predict(at, np.zeros(3), np.zeros((3, 3)), np.zeros((3, 48)))
        both = fit.prior_cov(at, rows)
        known = fit.prior_cov(at, at) - both @ np.linalg.solve(
            fit.prior_cov(rows, rows) + np.diag(fit.noise(rows) / fit.w), both.T
        )
        return ((told.cov / MARGIN**2 - known) / UNTRIED**2).diagonal().tolist()

    assert variance(1e-3, 3e-3, 4e-3) == pytest.approx([0.0] * 3, abs=1e-6)
    ends = [np.log(2.0) ** 2, np.log(2.0) ** 2, np.log(4.0) ** 2]
    assert variance(5e-4, 8e-3, 16e-3) == pytest.approx(ends, rel=1e-6)


def test_small_trunks_that_scatter_more_do_not_widen_what_is_said_of_large_ones():
    rng = np.random.default_rng(4)
    rows = rows_of(10, 4)
    c = rows.log_N + rows.log_D - (rows.log_N + rows.log_D).max()
    told = []
    for slope in (0.0, 0.4):
        d = draw(rows, rng, a=1e-4) + 5e-4 * np.exp(-slope * c) * rng.standard_normal(40)
        fit = fit_gain(rows, -d, np.zeros(40), np.zeros((40, 40)), Centre.of(rows))
        at = Rows(np.array([99]), *(v[-1:] for v in (rows.log_N, rows.log_D, rows.share)))
        told.append(fit.predict(at, np.zeros(1), np.zeros((1, 1)), np.zeros((1, 40))))
    assert np.sqrt(told[1].noise) == pytest.approx([5e-4], rel=0.6)
    assert told[1].cov[0, 0] < 6.0 * told[0].cov[0, 0]


def test_a_gain_that_bends_is_followed_and_is_less_known_beyond():
    rng = np.random.default_rng(5)
    rows = rows_of(8, 6)

    def bend(log_D):  # levels off
        return -0.01 * np.exp(rows.log_D[0] - log_D)

    d = draw(rows, rng, a=1e-4) + bend(rows.log_D)
    fit = fit_gain(rows, -d, np.zeros(48), np.zeros((48, 48)), Centre.of(rows))
    near = rows.take(np.array([0, 2, 5]))
    far = Rows(near.trunk[:1], near.log_N[:1], near.log_D[-1:] + 2.3, near.share[:1])
    inside, beyond = (
        fit.predict(r, np.zeros(len(r)), np.zeros((len(r),) * 2), np.zeros((len(r), 48)))
        for r in (near, far)
    )
    assert -inside.mean == pytest.approx(d[[0, 2, 5]], abs=1e-3)
    truth = 0.03 - 0.002 * (far.log_N - 20.0) + 0.001 * (far.log_D - 24.5)
    truth += bend(far.log_D)
    sd = np.sqrt(beyond.cov[0, 0])
    assert sd > 5.0 * np.sqrt(inside.cov[1, 1])
    assert abs(truth[0] + beyond.mean[0]) < 3.0 * sd


def test_slopes_are_those_of_the_density():
    rng = np.random.default_rng(6)
    rows = rows_of(4, 4)
    fit = fit_gain(rows, -draw(rows, rng), np.zeros(16), 1e-8 * np.eye(16), Centre.of(rows))
    fit = replace(fit, eta=fit.eta + 0.1 * rng.standard_normal(6))

    def density(eta):
        now = replace(fit, eta=eta)
        L, alpha = now.factor
        return 0.5 * now.off @ alpha + np.log(np.diag(L)).sum()

    assert _slopes(fit) == pytest.approx(approx_fprime(fit.eta, density, 1e-6), rel=1e-3, abs=1e-4)
