"""Acquisition: closed forms, quadrature, Monte Carlo, BoTorch, tails and invariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from lawsmith.acquisition import (
    ACQUISITIONS,
    get_acquisition,
    log_expected_improvement,
    log_probability_of_improvement,
    lower_confidence_bound,
)
from lawsmith.errors import LawsmithError

IN_LOGS = [log_expected_improvement, log_probability_of_improvement]

means = st.floats(-1e3, 1e3)
sds = st.floats(1e-3, 1e3)


def at(score, mean, sd, best):
    """One candidate's score."""
    return float(score(np.array([float(mean)]), np.array([float(sd)]), float(best))[0])


def test_expected_improvement_has_its_known_values():
    # Half a deviation above the best: φ(0.5) − 0.5·Φ(−0.5) = 0.352065 − 0.5·0.308538.
    assert np.exp(at(log_expected_improvement, 0.5, 1.0, 0.0)) == pytest.approx(0.19780, abs=5e-6)
    assert np.exp(at(log_expected_improvement, 3.0, 2.0, 3.0)) == pytest.approx(
        2.0 * 0.3989422804, rel=1e-9
    )
    # One deviation below the best: φ(1) + Φ(1) = 0.2419707245 + 0.8413447461.
    assert np.exp(at(log_expected_improvement, 1.0, 1.0, 2.0)) == pytest.approx(
        1.0833154706, rel=1e-9
    )


def test_probability_of_improvement_has_its_known_values():
    assert np.exp(at(log_probability_of_improvement, 7.0, 0.1, 7.0)) == pytest.approx(0.5)
    assert np.exp(at(log_probability_of_improvement, 0.5, 1.0, 0.0)) == pytest.approx(
        0.3085375387, rel=1e-9
    )


def test_the_confidence_bound_takes_kappa_times_the_deviation_off_the_mean():
    mean, sd = np.array([3.0, 3.0, 2.5]), np.array([0.25, 0.0, 0.25])
    assert lower_confidence_bound(mean, sd, 0.0).tolist() == [-2.5, -3.0, -2.0]
    assert lower_confidence_bound(mean, sd, 0.0, kappa=0.0).tolist() == [-3.0, -3.0, -2.5]
    assert ACQUISITIONS["lcb"](mean, sd, 1.0).tolist() == [-2.5, -3.0, -2.0]
    assert get_acquisition("lcb", kappa=4.0)(mean, sd, 1.0).tolist() == [-2.0, -3.0, -1.5]


@pytest.mark.parametrize("best", [-1.0, 0.3, 0.9, 1.1, 3.0, 12.0])
def test_both_agree_with_integrals_over_the_posterior(best):
    mean, sd = 1.0, 0.4
    low = min(best, mean) - 12 * sd

    def density(f):
        return norm.pdf(f, mean, sd)

    middle = sorted({min(mean, best), best})
    improvement = quad(lambda f: (best - f) * density(f), low, best, points=middle, epsabs=1e-15)[0]
    probability = quad(density, low, best, points=middle, epsabs=1e-15)[0]
    got = at(log_expected_improvement, mean, sd, best)
    assert got == pytest.approx(np.log(improvement), abs=1e-7)
    got = at(log_probability_of_improvement, mean, sd, best)
    assert got == pytest.approx(np.log(probability), abs=1e-7)


def test_both_agree_with_monte_carlo_within_four_standard_errors():
    rng = np.random.default_rng(11)
    mean, sd, best = 3.1, 0.2, 3.0
    gain = np.maximum(best - rng.normal(mean, sd, 200_000), 0.0)
    error = gain.std() / np.sqrt(gain.size)
    assert abs(np.exp(at(log_expected_improvement, mean, sd, best)) - gain.mean()) < 4 * error
    share = (gain > 0).mean()
    error = np.sqrt(share * (1 - share) / gain.size)
    assert abs(np.exp(at(log_probability_of_improvement, mean, sd, best)) - share) < 4 * error


@pytest.mark.parametrize("t", [0.5, 0.999, 1.0, 3.0, 10.0, 29.9, 30.0, 30.1, 45.0, 1e3, 1e6, 1e8])
def test_expected_improvement_in_the_tail_agrees_with_a_scaled_integral(t):
    # EI at z = −t is ∫ u·φ(t + u) du = φ(t)/t²·∫ v·exp(−v − v²/2t²) dv: an integral near 1.
    integral = quad(lambda v: v * np.exp(-v - 0.5 * (v / t) ** 2), 0, np.inf, epsabs=1e-13)[0]
    expected = np.log(integral) - 2 * np.log(t) - 0.5 * t**2 - 0.5 * np.log(2 * np.pi)
    got = at(log_expected_improvement, t, 1.0, 0.0)
    assert got == pytest.approx(expected, rel=1e-14, abs=1e-11)


@pytest.mark.parametrize("score", IN_LOGS)
def test_scores_stay_finite_and_ordered_a_billion_deviations_above_the_best(score):
    mean = np.concatenate([np.linspace(-30, 40, 7001), np.logspace(2, 9, 700)])
    values = score(mean, np.ones_like(mean), 0.0)
    assert np.isfinite(values).all()
    steps = np.diff(values)
    assert (steps <= 0).all()
    assert (steps[mean[1:] > -8] < 0).all()  # below that, PI is 1 to the last digit


@pytest.mark.parametrize("score", IN_LOGS)
@pytest.mark.filterwarnings("error")
def test_extreme_numbers_give_limits_without_a_warning(score):
    mean = np.array([1.0, -1.0, 1.0, -1.0, 1e300, -1e300])
    sd = np.array([5e-324, 5e-324, 1e-200, 1e-200, 1e-10, 1e-10])
    values = score(mean, sd, 0.0)
    sure = [0.0, 0.0, np.log(1e300)] if score is log_expected_improvement else [0.0] * 3
    np.testing.assert_allclose(values[1::2], sure, rtol=1e-14)
    assert values[::2].tolist() == [-np.inf] * 3


@pytest.mark.filterwarnings("error")
def test_a_certain_candidate_has_the_improvement_itself_and_none_when_it_ties_or_is_worse():
    mean, sd = np.array([0.5, 2.0, 3.0]), np.zeros(3)
    assert log_expected_improvement(mean, sd, 2.0).tolist() == [np.log(1.5), -np.inf, -np.inf]
    assert log_probability_of_improvement(mean, sd, 2.0).tolist() == [0.0, -np.inf, -np.inf]


@pytest.mark.parametrize("gap", [2.0, -2.0])
@pytest.mark.parametrize("score", IN_LOGS)
def test_certainty_is_the_limit_of_small_deviations(score, gap):
    limit = at(score, -gap, 0.0, 0.0)
    near = [at(score, -gap, sd, 0.0) for sd in (1e-1, 1e-2, 1e-3)]
    if gap > 0:
        assert near[-1] == pytest.approx(limit, abs=1e-12)
    else:
        assert near == sorted(near, reverse=True)
        assert near[-1] < -1e6


@pytest.mark.filterwarnings("error")
def test_a_missing_number_stays_missing():
    mean, sd = np.array([np.nan, 1.0, 1.0]), np.array([1.0, np.nan, 1.0])
    for acquisition in ACQUISITIONS.values():
        assert np.isnan(acquisition(mean, sd, 0.0)).tolist() == [True, True, False]


@given(mean=means, sd=sds, best=means, scale=st.floats(1e-3, 1e3), shift=means)
def test_an_affine_change_of_the_loss_changes_no_choice(mean, sd, best, scale, shift):
    moved = (scale * mean + shift, scale * sd, scale * best + shift)
    # Rounding of the moved gap is amplified by |z|: the derivative of −z²/2.
    z = abs(mean - best) / sd
    slack = 1e-9 + 1e-15 * z * (z + (abs(mean) + abs(best) + abs(shift) / scale) / sd)
    ei, pi, lcb = (ACQUISITIONS[name] for name in ("ei", "pi", "lcb"))
    assert at(ei, *moved) == pytest.approx(at(ei, mean, sd, best) + np.log(scale), abs=slack)
    assert at(pi, *moved) == pytest.approx(at(pi, mean, sd, best), abs=slack)
    assert at(lcb, *moved) == pytest.approx(scale * at(lcb, mean, sd, best) - shift, abs=1e-7)


@given(mean=means, higher=st.floats(1e-3, 1e3), sd=sds, best=means)
def test_a_lower_mean_is_never_worse(mean, higher, sd, best):
    for acquisition in ACQUISITIONS.values():
        low, high = at(acquisition, mean, sd, best), at(acquisition, mean + higher, sd, best)
        assert low >= high - 1e-12 * abs(high)


@given(mean=means, sd=sds, factor=st.floats(1.0, 1e3), best=means)
def test_more_deviation_is_never_worse_except_that_it_makes_a_sure_gain_less_sure(
    mean, sd, factor, best
):
    for name, acquisition in ACQUISITIONS.items():
        less, more = at(acquisition, mean, sd, best), at(acquisition, mean, factor * sd, best)
        if name == "pi" and mean < best:
            less, more = more, less
        assert more >= less - 1e-12 * abs(less)


@given(mean=means, sd=sds, best=means)
def test_a_gain_is_at_least_the_gap_and_more_likely_than_not_below_the_best(mean, sd, best):
    gap = best - mean
    if gap > 0:
        ei = at(log_expected_improvement, mean, sd, best)
        assert ei >= np.log(gap) - 1e-12 * abs(ei)
    pi = at(log_probability_of_improvement, mean, sd, best)
    assert pi <= 0.0
    assert pi >= np.log(0.5) if gap >= 0.0 else pi <= np.log(0.5)


def test_acquisitions_are_chosen_by_name():
    for name in ("ei", "pi", "lcb"):
        assert get_acquisition(name).name == name
    with pytest.raises(LawsmithError, match="acquisition: got 'ucb', want one of ei, pi, lcb"):
        get_acquisition("ucb")


@pytest.mark.parametrize("kappa", [-0.1, np.nan, np.inf])
def test_a_kappa_that_is_negative_or_not_finite_is_refused(kappa):
    with pytest.raises(LawsmithError, match=r"kappa: got .*, want a finite number of at least 0"):
        get_acquisition("lcb", kappa=kappa)
