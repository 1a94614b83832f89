"""Trunks: smoothing, spikes, and what lies beyond the last loss, against a known law."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.curves.trunk import fit_trunk
from lawsmith.trajectory import curve

from .drawn import trunk_loss


def drawn(last: float, seed: int = 0, spike: float = 0.0):
    rng = np.random.default_rng(seed)
    D = np.arange(1.0, last / 1e9 + 0.5) * 1e9
    loss = trunk_loss(1e9, D) * np.exp(5e-4 * rng.standard_normal(len(D)))
    loss[len(D) // 2] *= np.exp(spike)
    return fit_trunk(curve("a", "trunk", D, loss))


def test_a_trunk_is_smoothed_to_less_than_its_noise():
    at = np.array([5e9, 2e10, 6e10])
    mean, cov = drawn(1e11).at(at)
    assert mean == pytest.approx(np.log(trunk_loss(1e9, at)), abs=8e-4)
    assert np.sqrt(np.diag(cov)).max() < 1e-3


def test_a_spike_does_not_bend_the_curve():
    at = np.array([4.6e10, 5.1e10, 5.6e10])
    plain, spiked = (drawn(1e11, spike=spike).at(at)[0] for spike in (0.0, 0.1))
    assert spiked == pytest.approx(plain, abs=1e-3)


def test_beyond_its_end_a_trunk_is_extrapolated_and_the_interval_holds_the_truth():
    z = []
    for seed in range(12):
        trunk = drawn(3e10, seed)
        at = np.array([3e10, 6e10, 1.2e11])
        mean, cov = trunk.at(at)
        sd = np.sqrt(np.diag(cov))
        assert (np.diff(sd) > 0.0).all()
        z.append((mean - np.log(trunk_loss(1e9, at)))[1:] / sd[1:])
    assert np.mean(np.abs(z) < 1.96) >= 0.9


def test_errors_beyond_the_end_go_together():
    _, cov = drawn(3e10).at(np.array([6e10, 7e10]))
    assert cov[0, 1] > 0.8 * np.sqrt(cov[0, 0] * cov[1, 1])
