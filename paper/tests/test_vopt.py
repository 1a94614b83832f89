"""V-optimality: against closed forms of linear design, and on laws whose gradients are known."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.laws.catalogue import CHINCHILLA, LC
from lawsmith.laws.fit import fit_law
from lawsmith.policies import InitialDesign
from lawsmith.runs import Runs
from lawsmith_paper.rivals.vopt import (
    VOptimal,
    covariance,
    gains,
    gradients,
    law_on,
    prior_sd,
    residual_variance,
)
from tests.policies.fakes import box, ladder

TRUTH = {"E": 1.7, "A": 400.0, "alpha": 0.34, "B": 410.0, "beta": 0.28}


def test_a_gain_is_the_drop_of_the_variance_after_one_more_run():
    rng = np.random.default_rng(0)
    J, g, sd = rng.normal(size=(9, 4)), rng.normal(size=4), rng.uniform(0.5, 2.0, 4)
    variance, seen = 0.3, [0, 1, 1, 5]
    cov = covariance(J[seen], variance, sd)
    found = gains(J, g, cov, variance)
    for i in range(len(J)):
        after = covariance(J[[*seen, i]], variance, sd)
        assert found[i] == pytest.approx(g @ cov @ g - g @ after @ g, rel=1e-9)


def test_the_covariance_is_that_of_least_squares_with_a_normal_prior():
    rng = np.random.default_rng(1)
    J, sd = rng.normal(size=(6, 3)), np.array([1.0, 5.0, 0.3])
    want = np.linalg.inv(J.T @ J / 0.2 + np.diag(sd**-2.0))
    np.testing.assert_allclose(covariance(J, 0.2, sd), want, rtol=1e-9)


@pytest.mark.parametrize("target", [1.5, 2.0, 5.0])
def test_for_a_line_the_runs_go_to_the_ends_in_the_shares_of_hoel_and_levine(target):
    # Extrapolating a line measured on [−1, 1] to t > 1, the least variance has the shares
    # (t + 1)/2t of the runs at 1 and (t − 1)/2t at −1, and none between (Hoel and Levine 1964).
    x = np.linspace(-1.0, 1.0, 9)
    J, g = np.stack([np.ones(9), x], axis=1), np.array([1.0, target])
    rows = [0, 8]
    for _ in range(400):
        cov = covariance(J[rows], 1.0, np.array([1e3, 1e3]))
        rows.append(int(np.argmax(gains(J, g, cov, 1.0))))
    assert set(rows) == {0, 8}
    assert np.mean(np.array(rows) == 8) == pytest.approx((target + 1) / (2 * target), abs=0.01)


def chinchilla_runs(grid, rows):
    loss = CHINCHILLA.predict(TRUTH, {"N": grid.N[rows], "D": grid.D[rows]})
    return Runs.from_losses(rows, loss)


def scaled_box(n_N=4, n_D=4, n_lr=2):
    """Rows lr innermost, then D, then N; N from 1e8 and D from 1e9, each by doubling."""
    small = box(n_N, n_D, n_lr)
    columns = {"N": 1e8 * small.N, "D": 1e8 * small.D, "lr": small.column("lr")}
    return type(small).from_columns(columns)


def test_gradients_are_those_of_the_law():
    grid = scaled_box()
    rows = np.arange(0, len(grid), 2)
    runs = chinchilla_runs(grid, rows)
    fit = fit_law(CHINCHILLA, {"N": grid.N[rows], "D": grid.D[rows]}, runs.loss)
    x = CHINCHILLA.log_inputs({"N": 7e9, "D": 1.4e11})
    (found,) = gradients(fit, x)
    for j, step in enumerate(1e-6 * np.eye(5)):
        up, down = (CHINCHILLA.form.value((fit.phi + s)[None], x)[0, 0] for s in (step, -step))
        assert found[j] == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-9)
    assert residual_variance(fit) == pytest.approx(1e-6)  # an exact fit: the floor
    assert prior_sd(CHINCHILLA).tolist() == [1.0, 5.0, 0.3, 5.0, 0.3]


def test_the_run_chosen_reduces_the_variance_at_the_target_most_for_its_cost():
    grid = scaled_box()
    done = np.flatnonzero((grid.column("lr") == 2.0) & (grid.N < 7e8))
    runs = chinchilla_runs(grid, done)
    policy = VOptimal(InitialDesign(4), decades=1.0)
    (chosen,) = policy.ask(grid, runs, 1, np.random.default_rng(0))
    fit = fit_law(CHINCHILLA, {"N": grid.N[done], "D": grid.D[done]}, runs.loss)
    # The target: ten times the largest compute, at the ratio D/N that is best by this law.
    C = 10 * grid.C.max()
    G = (TRUTH["alpha"] * TRUTH["A"] / (TRUTH["beta"] * TRUTH["B"])) ** (1 / 0.62)
    N = G * (C / 6) ** (TRUTH["beta"] / 0.62)
    ratio = np.clip(C / 6 / N**2, (grid.D / grid.N).min(), (grid.D / grid.N).max())
    at = {"N": np.sqrt(C / 6 / ratio), "D": np.sqrt(C / 6 * ratio)}
    J = gradients(fit, CHINCHILLA.log_inputs({"N": grid.N, "D": grid.D}))
    (g,) = gradients(fit, CHINCHILLA.log_inputs(at))
    sd = prior_sd(CHINCHILLA)

    def variance_after(rows):
        return g @ covariance(J[rows], 1e-6, sd) @ g

    before = variance_after(done)
    drops = np.array([before - variance_after([*done, i]) for i in range(len(grid))])
    worth = drops / grid.C**0.3
    worth[done] = -np.inf
    assert worth[chosen] == pytest.approx(worth.max(), rel=1e-6)


def test_of_a_cell_the_hyperparameters_are_those_of_the_best_run_at_about_its_compute():
    grid = scaled_box(3, 4, 3)
    cheap = np.flatnonzero(grid.N < 3e8)
    runs = chinchilla_runs(grid, cheap)
    worse = np.where(grid.column("lr")[cheap] == 2.0, 1.0, 1.05)
    runs = Runs.from_losses(cheap, runs.loss * worse)
    (row,) = VOptimal(InitialDesign(4)).ask(grid, runs, 1, np.random.default_rng(0))
    assert grid.N[row] == grid.N.max()
    assert grid.column("lr")[row] == 2.0


def test_with_too_few_points_for_a_law_the_cheapest_new_cell_is_run():
    grid = scaled_box(3, 2, 2)
    runs = chinchilla_runs(grid, np.array([0, 1, 2, 3]))  # two cells
    (row,) = VOptimal(InitialDesign(4)).ask(grid, runs, 1, np.random.default_rng(0))
    assert (grid.N[row], grid.D[row]) == (grid.N[4], grid.D.min())


def test_a_grid_without_n_and_d_is_searched_for_its_law_of_compute():
    grid = ladder(10.0 ** np.arange(18, 23))
    assert law_on(grid) is LC
    loss = 1.5 + 800 * grid.C**-0.15
    policy = VOptimal(InitialDesign(3))
    (row,) = policy.ask(grid, Runs.from_losses([0, 1, 2], loss[:3]), 1, np.random.default_rng(0))
    assert row in (3, 4)
    assert law_on(box(2, 2, 1)) is CHINCHILLA
