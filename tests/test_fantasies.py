"""Fantasies: the losses of a grid, observed and predicted, and how much each counts."""

from __future__ import annotations

import numpy as np

from lawsmith.fantasies import alike, as_known, mixed_losses
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Posterior


def test_observed_losses_stand_and_diverged_ones_are_out():
    posterior = Posterior(np.zeros(4), np.ones(4), "log", 0.0)
    states = np.array([State.DONE, State.DIVERGED, State.PENDING])
    runs = Runs(np.array([1, 2, 3]), np.array([2.5, np.nan, np.nan]), states)
    np.testing.assert_array_equal(mixed_losses(4, runs, posterior), [1.0, 2.5, np.nan, 1.0])


def test_a_fantasized_point_counts_by_its_variance_beside_that_of_a_run():
    """σ²/(σ² + s²), and 1 for a run; a run that is pending or diverged is no observation."""
    sd = np.array([0.0, 0.02, 0.04, 0.06, 0.02])
    posterior = Posterior(np.zeros(5), sd, "log", 0.0, noise=0.02)
    states = np.array([State.DONE, State.DIVERGED, State.PENDING])
    runs = Runs(np.array([2, 3, 4]), np.array([2.5, np.nan, np.nan]), states)
    np.testing.assert_allclose(as_known(5, runs, posterior), [1.0, 0.5, 1.0, 0.1, 0.5])
    assert alike(5, runs, posterior).tolist() == [1.0] * 5


def test_without_noise_only_what_is_known_for_certain_counts():
    posterior = Posterior(np.zeros(3), np.array([0.0, 0.1, 0.1]), "log", 0.0, noise=0.0)
    runs = Runs.from_losses([1], [2.0])
    weights = as_known(3, runs, posterior)
    assert weights.tolist()[:2] == [1.0, 1.0]
    assert 0.0 <= weights[2] < 1e-12
