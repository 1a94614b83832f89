"""Each warning where it is due, and not where it is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from lawsmith.laws import diagnostics as checks
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.fit import fit_law
from lawsmith.laws.objective import LEAST_SQUARES_LOG
from lawsmith.laws.uncertainty import Interval, law_uncertainty
from tests.laws.test_forms import EXAMPLES

LC = get_law("LC")
C = np.geomspace(1e18, 1e22, 20)


def losses(seed: int = 0, sd: float = 0.002) -> np.ndarray:
    rng = np.random.default_rng(seed)
    clean = LC.predict(EXAMPLES["LC"], {"C": C})
    return np.asarray(clean * np.exp(sd * rng.standard_normal(C.size)))


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
    found = checks.isoflop_unbracketed(N, loss, level)
    assert found.message.startswith("1 of 2 isoFLOP curves")
    assert checks.isoflop_unbracketed(N[:3], loss[:3], level[:3]) is None


def test_e_held_at_the_lowest_loss_is_told_as_such() -> None:
    loss = 2.0 + 5e4 * C**-0.28
    loss[-1] = 1.9
    found = checks.at_bound(fit_law(LC, {"C": C}, loss, objective=LEAST_SQUARES_LOG))
    assert "E is held at 1.9, the lowest loss in the data" in found.message
    assert found.numbers["lowest_loss"] == pytest.approx(1.9)


def test_misfit_is_judged_by_the_degrees_of_freedom_of_the_noise() -> None:
    """A ratio of 3 on 16 degrees of freedom is much by 100 of noise, and nothing by 4."""
    fit = fit_law(LC, {"C": C}, losses())
    u = replace(law_uncertainty(fit), misfit=3.0, noise_sd=0.002, dof=16)
    assert stats.f.sf(3.0, 16, 100) < 0.01 < stats.f.sf(3.0, 16, 4)
    found = checks.lack_of_fit(fit, replace(u, noise_dof=100))
    assert found.numbers["F_limit"] == pytest.approx(stats.f.ppf(0.99, 16, 100))
    assert (found.numbers["dof"], found.numbers["noise_dof"]) == (16, 100)
    assert checks.lack_of_fit(fit, replace(u, noise_dof=4)) is None


def test_a_law_above_a_loss_that_was_reached_is_told() -> None:
    found = checks.law_above_observed("LC", "1e25 FLOPs", 2.31, 2.29, 2e19)
    assert found.code == "law_above_observed"
    assert found.numbers["predicted"] == 2.31
    assert found.numbers["reached"] == 2.29
    assert found.numbers["reached_compute"] == 2e19
    assert checks.law_above_observed("LC", "1e25 FLOPs", 2.28, 2.29, 2e19) is None


def test_disjoint_intervals_are_told_with_the_pair_that_is_farthest_apart() -> None:
    claims = {
        "the answer": Interval(1.55, 1.45, 1.65),
        "kaplan": Interval(1.27, 1.22, 1.42),
        "LC": Interval(1.71, 1.62, 1.82),
    }
    found = checks.laws_disagree("1e25 FLOPs", claims, 0.95)
    assert (found.numbers["lower"], found.numbers["higher"]) == ("kaplan", "LC")
    assert (found.numbers["lower_high"], found.numbers["higher_low"]) == (1.42, 1.62)
    assert (found.numbers["n_disjoint"], found.numbers["n_pairs"]) == (2, 3)
    del claims["kaplan"]
    assert checks.laws_disagree("1e25 FLOPs", claims, 0.95) is None
    assert checks.laws_disagree("1e25 FLOPs", {}, 0.95) is None


def test_a_best_ratio_that_was_not_run_is_told() -> None:
    tried = np.array([5.0, 100.0])
    found = checks.allocation_extrapolated("the best D/N is", 12e9 / 14e12, tried)
    assert found.numbers == {"ratio": 12e9 / 14e12, "least_run": 5.0, "largest_run": 100.0}
    assert checks.allocation_extrapolated("the best D/N is", 20.0, tried) is None
    one = np.array([20.0, 20.0])
    assert checks.allocation_extrapolated("", 20.0 + 1e-12, one) is None
