"""The gain of a run for the law, against the normal case, where it is known in closed form."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.fantasies import Plausible
from lawsmith.laws.catalogue import get_law
from lawsmith.policies.law_gain import law_gain

LC = get_law("LC")


def linear_case(S: int, noise: float, rng: np.random.Generator):
    """Draws of three rows, and laws whose log E, all that varies, is a sum of two of them."""
    root = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    f = 0.01 * rng.standard_normal((S, 3)) @ root.T
    phi = np.column_stack([f[:, 0] + 2 * f[:, 1], np.full(S, -40.0), np.full(S, -0.1)])
    plausible = Plausible(LC, np.array([2, 5, 7]), f, phi, phi[0])
    K = 1e-4 * root @ root.T
    a = np.array([1.0, 2.0, 0.0])
    return plausible, (K @ a) ** 2 / (np.diag(K) + noise**2) / (a @ K @ a)


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_the_gain_is_the_variance_that_one_observation_of_a_normal_vector_removes(noise):
    plausible, want = linear_case(200_000, noise, np.random.default_rng(0))
    gain = law_gain(plausible, np.log([1e20]), noise, 9)
    np.testing.assert_allclose(gain[[2, 5, 7]], want, atol=0.01)
    assert np.all(gain[[0, 1, 3, 4, 6, 8]] == 0.0)


def test_chance_correlations_of_few_draws_count_for_nothing_on_average():
    rng = np.random.default_rng(1)
    spurious = [
        law_gain(linear_case(64, 0.0, rng)[0], np.log([1e20]), 0.0, 9)[7] for _ in range(200)
    ]
    assert np.mean(spurious) < 1.0 / 64


def test_a_law_that_slipped_does_not_outvote_the_others():
    plausible, want = linear_case(2000, 0.0, np.random.default_rng(2))
    plausible.phi[:5, 0] = 3.0
    gain = law_gain(plausible, np.log([1e20]), 0.0, 9)
    np.testing.assert_allclose(gain[[2, 5, 7]], want, atol=0.05)


def test_laws_without_a_fit_are_left_out_and_too_few_say_nothing():
    plausible, want = linear_case(4000, 0.0, np.random.default_rng(3))
    plausible.phi[::2] = np.nan
    np.testing.assert_allclose(law_gain(plausible, np.log([1e20]), 0.0, 9)[5], want[1], atol=0.05)
    plausible.phi[7:] = np.nan
    assert np.all(law_gain(plausible, np.log([1e20]), 0.0, 9) == 0.0)
