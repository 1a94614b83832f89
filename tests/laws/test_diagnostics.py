"""Each warning where it is due, and not where it is not."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.laws import diagnostics as checks
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.fit import fit_law
from lawsmith.laws.objective import LEAST_SQUARES_LOG
from lawsmith.laws.uncertainty import law_uncertainty
from tests.laws.test_forms import EXAMPLES

LC = get_law("LC")
C = np.geomspace(1e18, 1e22, 20)


def losses(seed: int = 0, sd: float = 0.002) -> np.ndarray:
    rng = np.random.default_rng(seed)
    clean = LC.predict(EXAMPLES["LC"], {"C": C})
    return np.asarray(clean * np.exp(sd * rng.standard_normal(C.size)))


def test_codes_are_the_ones_promised() -> None:
    assert len(set(checks.CODES)) == 9


def test_at_bound_names_the_parameter() -> None:
    fit = fit_law(LC, {"C": C}, np.linspace(4.0, 2.0, C.size))  # a line in log C: E wants to be < 0
    found = checks.at_bound(fit)
    assert found is not None
    assert found.code == "at_bound"
    assert "E = " in found.message
    assert checks.at_bound(fit_law(LC, {"C": C}, losses())) is None


def test_ill_conditioned_on_a_narrow_range_of_compute() -> None:
    narrow = np.geomspace(1e20, 1.2e20, 12)
    fit = fit_law(LC, {"C": narrow}, LC.predict(EXAMPLES["LC"], {"C": narrow}))
    assert checks.ill_conditioned(fit).code == "ill_conditioned"
    assert checks.ill_conditioned(fit_law(LC, {"C": C}, losses())) is None


def test_too_few_levels() -> None:
    few = fit_law(LC, {"C": C[::4]}, losses()[::4])
    assert checks.too_few_levels(few, 5).code == "too_few_levels"
    assert checks.too_few_levels(fit_law(LC, {"C": C}, losses()), 20) is None


@pytest.mark.parametrize("ratio", [20.0, 1.7])
def test_fixed_tokens_per_parameter_are_collinear(ratio: float) -> None:
    N = np.geomspace(1e7, 1e9, 8)
    found = checks.collinear_design(N, ratio * N)
    assert "unidentifiable" in found.message
    rounded = ratio * N * (1 + 0.01 * np.sin(np.arange(8)))
    assert checks.collinear_design(N, rounded) is not None


def test_one_size_is_collinear_and_a_grid_is_not() -> None:
    N, D = (v.ravel() for v in np.meshgrid(np.geomspace(1e7, 1e9, 4), np.geomspace(1e9, 1e11, 4)))
    assert checks.collinear_design(N, D) is None
    assert "N has one value" in checks.collinear_design(np.full(4, 1e8), D[:4]).message


def test_leave_one_out_is_the_refit_without_the_point() -> None:
    fit = fit_law(LC, {"C": C}, losses())
    found = checks.influence(fit, {"C": 1e24}, law_uncertainty(fit))
    for k in (0, 7, 19):
        keep = np.arange(C.size) != k
        other = fit_law(LC, {"C": C[keep]}, losses()[keep])
        want = np.log(other.predict({"C": 1e24})[0] / fit.predict({"C": 1e24})[0])
        assert found.shift[k] == pytest.approx(want, abs=1e-6)


def test_a_wild_end_point_is_influential_and_named() -> None:
    loss = losses()
    loss[-1] *= 0.95
    fit = fit_law(LC, {"C": C}, loss, objective=LEAST_SQUARES_LOG)
    found = checks.influence(fit, {"C": 1e24}, law_uncertainty(fit))
    assert found.largest == C.size - 1
    message = checks.influential_point(found, C, "1e24 FLOPs").message
    assert "1e22 FLOPs" in message
    quiet = fit_law(LC, {"C": C}, losses(sd=1e-5))
    calm = checks.influence(quiet, {"C": 1e24}, law_uncertainty(quiet))
    assert checks.influential_point(calm, C, "") is None


def test_a_bend_left_in_the_residuals_is_lack_of_fit() -> None:
    z = np.linspace(-1, 1, C.size)
    bent = LC.predict(EXAMPLES["LC"], {"C": C}) * np.exp(0.02 * np.sin(4 * z))
    fit = fit_law(LC, {"C": C}, bent)
    assert checks.lack_of_fit(fit, law_uncertainty(fit)).code == "lack_of_fit"
    flagged = []
    for seed in range(40):
        fit = fit_law(LC, {"C": C}, losses(seed))
        flagged.append(checks.lack_of_fit(fit, law_uncertainty(fit)) is not None)
    assert np.mean(flagged) < 0.15


def test_far_targets_are_told_with_their_distance() -> None:
    assert "3.9 decades" in checks.extrapolation_decades("1e25 FLOPs", 3.91).message
    assert checks.extrapolation_decades("1e22 FLOPs", 0.4) is None


def test_isoflop_curves_with_a_minimum_at_an_end() -> None:
    N = np.array([1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0])
    loss = np.array([3.0, 2.0, 2.5, 3.0, 2.0, 1.0, 1.0, 2.0])
    level = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    found = checks.isoflop_unbracketed(N, np.ones(8), loss, level)
    assert found.message.startswith("1 of 2 isoFLOP curves")
    assert checks.isoflop_unbracketed(N[:3], np.ones(3), loss[:3], level[:3]) is None
