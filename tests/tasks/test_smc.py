"""The sampler beside posteriors that are known in closed form."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from lawsmith.tasks.smc import sample


def test_a_normal_posterior_has_its_mean_and_covariance():
    # y = A·u + noise of variance s: the posterior is normal with precision 1 + AᵀA/s.
    rng = np.random.default_rng(0)
    A, y, s = rng.standard_normal((5, 3)), rng.standard_normal(5), 0.05
    cov = np.linalg.inv(np.eye(3) + A.T @ A / s)
    mean = cov @ A.T @ y / s
    u = sample(lambda u: -0.5 * ((y - u @ A.T) ** 2).sum(1) / s, 3, n=4000, rng=rng)
    sd = np.sqrt(np.diag(cov))
    assert np.all(np.abs(u.mean(axis=0) - mean) < 0.1 * sd)
    np.testing.assert_allclose(np.cov(u.T), cov, atol=0.1 * sd.max() ** 2)


def test_two_modes_are_kept_in_their_proportions():
    def two(u):
        parts = [-0.5 * ((u[:, 0] - m) / 0.1) ** 2 + w for m, w in ((-1.0, 0.0), (1.5, 1.5))]
        return logsumexp(parts, axis=0)

    u = sample(two, 1, n=4000, rng=np.random.default_rng(1))
    # Each mode's mass is its weight times the prior at it, nearly.
    left, right = np.exp(-0.5), np.exp(1.5 - 0.5 * 1.5**2)
    assert abs((u[:, 0] < 0).mean() - left / (left + right)) < 0.04
