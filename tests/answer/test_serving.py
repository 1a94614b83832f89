"""Training and serving together, beside a law whose cheapest model is found by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from lawsmith.answer.serving import serve
from lawsmith.errors import LawsmithError
from lawsmith.surface import fit

TOKENS = 2e12


def loss_at(N, D):
    return 1.7 + 400.0 / N**0.34 + 410.0 / D**0.28


@pytest.fixture(scope="module")
def surface():
    n, r = (
        part.ravel() for part in np.meshgrid(np.geomspace(3e7, 3e9, 7), np.geomspace(5, 640, 8))
    )
    return fit({"N": n, "D": n * r}, loss_at(n, n * r))


def cheapest(level, tokens):
    """The N of the true law, and what it costs."""

    def total(log_N):
        N = np.exp(log_N)
        if loss_at(N, 1e18) > level:
            return 1e60
        D = brentq(lambda d: loss_at(N, np.exp(d)) - level, np.log(1e8), np.log(1e18))
        return 6 * N * np.exp(D) + 2 * N * tokens

    found = minimize_scalar(total, bounds=np.log([1e8, 1e11]), method="bounded")
    return float(np.exp(found.x)), float(found.fun)


def best_loss(C):
    N = np.geomspace(1e8, 1e11, 4000)
    return float(loss_at(N, C / 6 / N).min())


def test_the_cheapest_model_is_that_of_the_true_law(surface):
    found = serve(surface, 1e21, TOKENS)
    N, cost = cheapest(best_loss(1e21), TOKENS)
    assert found.near_N[0] / 1.1 <= N <= found.near_N[1] * 1.1
    assert found.total == pytest.approx(cost, rel=0.03)
    assert found.total == pytest.approx(6 * found.N * found.D + 2 * found.N * TOKENS, rel=1e-6)


def test_it_is_smaller_trained_longer_and_cheaper_than_the_best_for_training_alone(surface):
    found = serve(surface, 1e21, TOKENS)
    assert found.alone_N > found.N
    assert found.alone_D < found.D
    assert 0.0 < found.saved < 1.0


def test_with_nothing_to_serve_it_is_the_best_for_training(surface):
    found = serve(surface, 1e21, 1.0)
    assert found.near_N[0] * 0.9 <= found.alone_N <= found.near_N[1] * 1.1
    assert found.saved == pytest.approx(0.0, abs=0.01)


def test_more_tokens_to_serve_make_a_smaller_model(surface):
    sizes = [serve(surface, 1e21, tokens).N for tokens in (1e10, 1e12, 1e13)]
    assert sizes[0] > sizes[1] > sizes[2]


def test_a_study_of_one_d_for_each_n_cannot_tell():
    n = np.geomspace(3e7, 3e9, 12)
    flat = fit({"N": n, "D": 20 * n}, loss_at(n, 20 * n))
    with pytest.raises(LawsmithError, match="cannot be told apart"):
        serve(flat, 1e21, TOKENS)
