"""Intervals against scipy, closed forms and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import curve_fit

from lawsmith.laws.bootstrap import bootstrap, percentiles, runs_bootstrap
from lawsmith.laws.catalogue import HYPERPARAMETER, get_law
from lawsmith.laws.fit import fit_law
from lawsmith.laws.objective import HUBER, LEAST_SQUARES_LOG
from lawsmith.laws.uncertainty import law_uncertainty
from tests.laws.test_forms import EXAMPLES

LC = get_law("LC")
C = np.geomspace(1e18, 3e21, 16)


def draw(seed: int, sd: float = 0.004) -> np.ndarray:
    rng = np.random.default_rng(seed)
    clean = LC.predict(EXAMPLES["LC"], {"C": C})
    return np.asarray(clean * np.exp(sd * rng.standard_normal(C.size)))


def test_the_covariance_is_scipys() -> None:
    loss = draw(0)

    def f(c, e, a, alpha):
        return np.logaddexp(e, a + alpha * c)

    fit = fit_law(LC, {"C": C}, loss, objective=LEAST_SQUARES_LOG)
    _, cov = curve_fit(f, np.log(C), np.log(loss), p0=fit.phi)
    u = law_uncertainty(fit)
    assert u is not None
    np.testing.assert_allclose(u.cov, cov, rtol=1e-3)
    assert u.dof == 13


def test_a_linear_law_has_the_textbook_interval() -> None:
    """λ* is a line in logs: Student's t intervals are exact and known in closed form."""
    rng = np.random.default_rng(1)
    N, D = rng.uniform(7, 10, 12), rng.uniform(9, 12, 12)
    X = np.stack([np.ones(12), N, D], axis=1) * [1, np.log(10), np.log(10)]
    y = X @ [0.6, -0.7, 0.3] + 0.1 * rng.standard_normal(12)
    fit = fit_law(HYPERPARAMETER, {"N": 10**N, "D": 10**D}, np.exp(y))
    b, rss = np.linalg.lstsq(X, y, rcond=None)[:2]
    se = np.sqrt(np.diag(np.linalg.inv(X.T @ X)) * rss[0] / 9)
    interval = law_uncertainty(fit).params(0.9)["a"]
    assert interval.centre == pytest.approx(b[1], rel=1e-8)
    assert interval.high - interval.centre == pytest.approx(stats.t.ppf(0.95, 9) * se[1], rel=1e-6)


def test_fixed_parameters_have_no_width_and_help_the_others() -> None:
    loss = draw(2)
    free = law_uncertainty(fit_law(LC, {"C": C}, loss)).params()
    pinned = law_uncertainty(fit_law(LC, {"C": C}, loss, fixed={"E": 1.57})).params()
    assert pinned["E"].low == pytest.approx(1.57)
    assert pinned["E"].high == pytest.approx(1.57)
    assert pinned["alpha"].high - pinned["alpha"].low < free["alpha"].high - free["alpha"].low


def test_the_band_of_a_further_run_is_wider_than_the_laws() -> None:
    u = law_uncertainty(fit_law(LC, {"C": C}, draw(3)))
    law, run = u.loss({"C": [1e20, 1e24]}), u.run({"C": [1e20, 1e24]})
    assert np.all(run.high - run.low > law.high - law.low)
    assert law.high[1] - law.low[1] > law.high[0] - law.low[0]


def test_no_degrees_of_freedom_means_no_interval() -> None:
    assert law_uncertainty(fit_law(LC, {"C": C[:3]}, draw(4)[:3])) is None


def test_nominal_95_percent_covers_95_percent() -> None:
    """16 points, 0.5 % noise; docs/coverage.md has the whole table. Binomial SD here is 1.1 %."""
    truth = LC.phi(EXAMPLES["LC"])
    target = float(LC.predict(EXAMPLES["LC"], {"C": 1e24})[0])
    hits = []
    for seed in range(400):
        u = law_uncertainty(fit_law(LC, {"C": C}, draw(1000 + seed, sd=0.005)))
        interval = u.loss({"C": 1e24})
        alpha = u.params()["alpha"]
        hits.append(
            [interval.low[0] < target < interval.high[0], alpha.low < truth[2] < alpha.high]
        )
    coverage = np.mean(hits, axis=0)
    assert np.all((coverage > 0.915) & (coverage < 0.98))


def test_heavy_tails_switch_to_the_bootstrap_of_the_stated_objective() -> None:
    rng = np.random.default_rng(5)
    many = np.geomspace(1e18, 1e22, 120)
    clean = LC.predict(EXAMPLES["LC"], {"C": many})
    fit = fit_law(LC, {"C": many}, clean * np.exp(0.003 * rng.standard_t(2, many.size)))
    u = law_uncertainty(fit)
    assert "bootstrap" in u.method
    np.testing.assert_array_equal(u.phi, fit.phi)
    normal = fit_law(LC, {"C": many}, clean * np.exp(0.003 * rng.standard_normal(many.size)))
    assert "Student" in law_uncertainty(normal).method


@pytest.mark.parametrize("name", ["case", "wild"])
def test_bootstraps_spread_like_the_standard_error_on_many_points(name: str) -> None:
    rng = np.random.default_rng(6)
    many = np.geomspace(1e18, 1e22, 150)
    loss = LC.predict(EXAMPLES["LC"], {"C": many}) * np.exp(0.003 * rng.standard_normal(150))
    fit = fit_law(LC, {"C": many}, loss, objective=LEAST_SQUARES_LOG)
    draws = bootstrap(fit, name, 400, rng)
    assert draws.converged.all()
    want = np.sqrt(np.diag(law_uncertainty(fit).cov))
    np.testing.assert_allclose(draws.phi.std(axis=0), want, rtol=0.25)
    low, high = percentiles(draws, lambda phi: phi)
    assert np.all((low < fit.phi) & (fit.phi < high))


def test_runs_are_resampled_before_the_frontier_is_taken() -> None:
    rng = np.random.default_rng(7)
    x = np.repeat(np.log(C), 10)
    loss = np.repeat(LC.predict(EXAMPLES["LC"], {"C": C}), 10) * np.exp(0.01 * rng.random(x.size))
    levels = np.repeat(np.arange(C.size), 10)

    def least(losses: np.ndarray) -> np.ndarray:
        on = np.zeros(losses.shape, dtype=bool)
        for b, row in enumerate(losses):
            for level in range(C.size):
                at = np.flatnonzero((levels == level) & np.isfinite(row))
                if at.size:
                    on[b, at[np.argmin(row[at])]] = True
        return on

    best = loss.reshape(C.size, 10).min(axis=1)
    fit = fit_law(LC, {"C": C}, best)
    draws = runs_bootstrap(
        LC, x[None], loss, least, start=fit.phi, objective=HUBER, n_draws=50, rng=rng
    )
    # Dropping runs can only raise a minimum: every draw's law lies above, within the data.
    at = np.log(draws.law.predict(fit.params, {"C": 1e20}))
    assert (draws.log_loss({"C": 1e20})[:, 0] > at - 1e-6).mean() > 0.9
