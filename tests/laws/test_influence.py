"""Leave-one-out against refits and against the closed form of linear regression."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.laws import diagnostics as checks
from lawsmith.laws.catalogue import HYPERPARAMETER, get_law
from lawsmith.laws.fit import fit_law
from lawsmith.laws.objective import HUBER, LEAST_SQUARES_LOG, LEAST_SQUARES_LOSS
from lawsmith.laws.uncertainty import MOST_REFITS, REFITTED, influence, law_uncertainty
from tests.laws.test_diagnostics import C, losses
from tests.laws.test_forms import EXAMPLES

LC = get_law("LC")


def test_leave_one_out_is_the_refit_without_the_point() -> None:
    fit = fit_law(LC, {"C": C}, losses())
    found = influence(fit, {"C": 1e24}, law_uncertainty(fit))
    for k in (0, 7, 19):
        keep = np.arange(C.size) != k
        other = fit_law(LC, {"C": C[keep]}, losses()[keep])
        want = np.log(other.predict({"C": 1e24})[0] / fit.predict({"C": 1e24})[0])
        assert found.shift[k] == pytest.approx(want, abs=1e-6)


def test_a_wild_end_point_is_influential_and_named() -> None:
    loss = losses()
    loss[-1] *= 0.95
    fit = fit_law(LC, {"C": C}, loss, objective=LEAST_SQUARES_LOG)
    found = influence(fit, {"C": 1e24}, law_uncertainty(fit))
    assert found.largest == C.size - 1
    message = checks.influential_point(found, C, "1e24 FLOPs").message
    assert "1e22 FLOPs" in message
    quiet = fit_law(LC, {"C": C}, losses(sd=1e-5))
    calm = influence(quiet, {"C": 1e24}, law_uncertainty(quiet))
    assert checks.influential_point(calm, C, "") is None


def test_above_400_points_the_move_is_the_textbooks_dfbeta() -> None:
    """β − β₍ᵢ₎ = (XᵀX)⁻¹ xᵢ eᵢ / (1 − hᵢ), exact for a law that is linear in logs."""
    rng = np.random.default_rng(0)
    n = MOST_REFITS + 200
    x = rng.uniform(15, 25, (2, n))
    X = np.concatenate([np.ones((1, n)), x]).T
    y = X @ [0.6, -0.7, 0.3] + 0.1 * rng.standard_normal(n)
    fit = fit_law(HYPERPARAMETER, {"N": np.exp(x[0]), "D": np.exp(x[1])}, np.exp(y))
    found = influence(fit, {"N": np.exp(30.0), "D": np.exp(31.0)}, law_uncertainty(fit))
    inverse = np.linalg.inv(X.T @ X)
    residual = y - X @ inverse @ X.T @ y
    leverage = np.einsum("ni,ij,nj->n", X, inverse, X)
    moves = -(inverse @ X.T) * residual / (1 - leverage)
    np.testing.assert_allclose(found.shift, np.array([1.0, 30.0, 31.0]) @ moves, atol=1e-7)
    assert found.n_refitted == REFITTED


@pytest.mark.parametrize("objective", [HUBER, LEAST_SQUARES_LOG, LEAST_SQUARES_LOSS])
def test_above_400_points_the_most_influential_is_the_one_of_refits(objective) -> None:
    rng = np.random.default_rng(1)
    many = np.geomspace(1e18, 1e22, MOST_REFITS + 20)
    loss = LC.predict(EXAMPLES["LC"], {"C": many}) * np.exp(0.002 * rng.standard_normal(many.size))
    loss[-1] *= 0.97
    fit = fit_law(LC, {"C": many}, loss, objective=objective)
    found = influence(fit, {"C": 1e24}, law_uncertainty(fit))
    without = fit_law(LC, {"C": many[:-1]}, loss[:-1], objective=objective)
    want = np.log(without.predict({"C": 1e24})[0] / fit.predict({"C": 1e24})[0])
    assert found.shift[-1] == pytest.approx(want, abs=2e-6)
    if objective is not HUBER:  # which hardly follows one point
        assert found.largest == many.size - 1
