"""Acquisition functions beside BoTorch's."""

from __future__ import annotations

import numpy as np
import torch
from botorch.acquisition import analytic
from botorch.models import SingleTaskGP

from lawsmith.acquisition import ACQUISITIONS


def test_scores_agree_with_botorch_on_the_posterior_of_a_gaussian_process():
    rng = np.random.default_rng(5)
    x = torch.from_numpy(rng.uniform(size=(12, 2)))
    y = torch.sin(6 * x[:, :1]) + x[:, 1:] ** 2
    model = SingleTaskGP(x, y).eval()
    points = torch.from_numpy(np.concatenate([rng.uniform(size=(60, 2)), x.numpy()]))[:, None, :]
    with torch.no_grad():
        posterior = model.posterior(points)
        mean = posterior.mean.ravel().numpy()
        sd = posterior.variance.sqrt().ravel().numpy()
        for best in (-3.0, float(y.min()), 0.5, 3.0, -60.0):
            least = torch.tensor(best, dtype=torch.float64)  # a plain float would be cut to 32 bits
            theirs = {
                "ei": analytic.LogExpectedImprovement(model, least, maximize=False),
                "pi": analytic.LogProbabilityOfImprovement(model, least, maximize=False),
                "lcb": analytic.UpperConfidenceBound(model, beta=4.0, maximize=False),
            }
            for name, acquisition in ACQUISITIONS.items():
                expected = theirs[name](points).numpy()
                got = acquisition(mean, sd, best)
                np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10, err_msg=name)
