"""Fantasies: the losses of a grid, observed and predicted."""

from __future__ import annotations

import numpy as np

from lawsmith.replay.steps import mixed_losses
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Posterior


def test_observed_losses_stand_and_diverged_ones_are_out():
    posterior = Posterior(np.zeros(4), np.ones(4), "log", 0.0)
    states = np.array([State.DONE, State.DIVERGED, State.PENDING])
    runs = Runs(np.array([1, 2, 3]), np.array([2.5, np.nan, np.nan]), states)
    np.testing.assert_array_equal(mixed_losses(4, runs, posterior), [1.0, 2.5, np.nan, 1.0])
