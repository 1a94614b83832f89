"""The scale of targets."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith_paper.rivals.targets import standardised


def test_targets_are_brought_to_mean_0_and_deviation_1():
    y = np.array([2.0, 3.0, 7.0])
    scaled = standardised(y)
    assert (scaled.z.mean(), scaled.z.std()) == (pytest.approx(0.0, abs=1e-15), pytest.approx(1.0))
    np.testing.assert_allclose(scaled.mean + scaled.sd * scaled.z, y)


@pytest.mark.parametrize("value", [0.1, 2.71, -3.3, 0.0, 1e-300])
def test_constant_targets_are_exact_zeros_whatever_their_rounding(value):
    scaled = standardised(np.full(7, value))
    assert scaled.z.tolist() == [0.0] * 7
    assert scaled.sd == 1.0
    assert scaled.mean == pytest.approx(value)
