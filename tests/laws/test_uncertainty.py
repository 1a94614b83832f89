"""Intervals against scipy, closed forms and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import curve_fit

from lawsmith.laws.catalogue import HYPERPARAMETER, get_law
from lawsmith.laws.fit import fit_law
from lawsmith.laws.law import Param, asymptote, coefficient, exponent
from lawsmith.laws.objective import LEAST_SQUARES_LOG
from lawsmith.laws.uncertainty import (
    case_bootstrap,
    identified,
    law_uncertainty,
    scatter_covariance,
)
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


def test_the_bootstrap_spreads_like_the_standard_error_on_many_points() -> None:
    rng = np.random.default_rng(6)
    many = np.geomspace(1e18, 1e22, 150)
    loss = LC.predict(EXAMPLES["LC"], {"C": many}) * np.exp(0.003 * rng.standard_normal(150))
    fit = fit_law(LC, {"C": many}, loss, objective=LEAST_SQUARES_LOG)
    draws = case_bootstrap(fit, 400, rng)
    assert draws.converged.all()
    want = np.sqrt(np.diag(law_uncertainty(fit).cov))
    np.testing.assert_allclose(draws.phi.std(axis=0), want, rtol=0.25)


def test_scatter_becomes_the_covariance_of_the_textbook() -> None:
    """σ²(XᵀX)⁻¹ for the columns that are free."""
    rng = np.random.default_rng(8)
    X = rng.standard_normal((20, 4)) * [1.0, 30.0, 0.01, 5.0]
    free = np.array([True, True, False, True])
    cov = scatter_covariance(X.T, 0.04, free)
    part = X[:, free]
    np.testing.assert_allclose(
        cov[np.ix_(free, free)], 0.04 * np.linalg.inv(part.T @ part), rtol=1e-9
    )
    assert not cov[2].any()


@pytest.mark.parametrize("seed", range(10))
def test_every_interval_holds_the_fitted_laws_own_value(seed: int) -> None:
    """Huber's fit is not the least-squares one that intervals are made from."""
    rng = np.random.default_rng(seed)
    loss = LC.predict(EXAMPLES["LC"], {"C": C}) * np.exp(0.01 * rng.standard_t(2, C.size))
    fit = fit_law(LC, {"C": C}, loss)
    u = law_uncertainty(fit)
    for level in (0.2, 0.95):
        for found in (u.loss({"C": 1e24}, level), u.run({"C": 1e24}, level)):
            assert found.centre == pytest.approx(fit.predict({"C": 1e24}))
            assert found.low[0] <= found.centre[0] <= found.high[0]
        for name, found in u.params(level).items():
            assert found.centre == pytest.approx(fit.params[name])
            assert np.isnan(found.low) or found.low <= found.centre <= found.high


@pytest.mark.parametrize(
    ("param", "low", "high", "told"),
    [
        (asymptote(), 1.5, 1.9, True),
        (asymptote(), 2.5e-5, 19840.0, False),
        (asymptote(), 0.1, 1.9, False),
        (coefficient("A"), 14.0, 711.0, True),
        (coefficient("A"), 1e-3, 1e9, False),
        (exponent("alpha"), 0.2, 0.4, True),
        (exponent("alpha"), -0.1, 0.4, False),
        (exponent("alpha", -3.0, -1e-3), -0.4, -0.2, True),
        (exponent("alpha", -3.0, -1e-3), -0.4, -0.01, False),
        (Param("a", lower=-5.0, upper=5.0), -0.04, 0.11, True),
        (exponent("alpha"), 0.3, 0.3, True),
    ],
)
def test_a_parameter_is_identified_when_its_interval_tells_its_size(param, low, high, told) -> None:
    assert identified(param, low, high) is told


def test_a_narrow_range_does_not_identify_e_and_gives_it_no_interval() -> None:
    narrow = np.geomspace(1e20, 3e20, 10)
    clean = LC.predict(EXAMPLES["LC"], {"C": narrow})
    rng = np.random.default_rng(3)
    n_open = 0
    for _ in range(20):
        loss = clean * np.exp(0.005 * rng.standard_normal(10))
        found = law_uncertainty(fit_law(LC, {"C": narrow}, loss)).params()["E"]
        assert np.isnan(found.low) == np.isnan(found.high)
        assert np.isnan(found.high) or found.high <= loss.min() * (1 + 1e-12)
        n_open += bool(np.isnan(found.low))
    assert n_open >= 18


def test_the_interval_of_e_ends_at_the_lowest_loss() -> None:
    for seed in range(20):
        loss = draw(seed, sd=0.02)
        found = law_uncertainty(fit_law(LC, {"C": C}, loss)).params()["E"]
        assert found.centre <= loss.min() * (1 + 1e-12)
        assert np.isnan(found.high) or found.high <= loss.min() * (1 + 1e-12)
