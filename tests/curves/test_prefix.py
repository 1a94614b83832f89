"""Ends of runs from losses on their way: what finished ones teach, and when it is trusted."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.curves.prefix import LEAST_RUNS, Prefixes, smoothed
from lawsmith.surface.frame import Points


def points(N, D, lr) -> Points:
    S = np.log(np.stack([N, D], axis=1))
    empty = np.empty((len(N), 0))
    return Points(S, np.log(lr)[:, None], empty, np.log(6.0 * np.asarray(N) * D))


def drawn(n: int, rng: np.random.Generator) -> Points:
    return points(*(np.exp(rng.uniform(np.log(a), np.log(b), n)) for a, b in RANGES))


RANGES = ((1e7, 3e8), (3e8, 1e10), (5e-4, 8e-3))


def losses(at: Points, rng: np.random.Generator, sd: float = 0.003) -> tuple:
    """Ends with a bowl in ln lr, and a gap that grows with lr and falls with N and D."""
    off = at.U[:, 0] - np.log(2e-3)
    b = 1.0 - 0.1 * (at.S[:, 0] - 18.0) - 0.05 * (at.S[:, 1] - 21.0) + 0.015 * off**2
    b += rng.normal(0.0, 0.005, len(b))
    gap = 0.1 + 0.04 * off + 0.01 * off**2 - 0.01 * (at.S[:, 1] - 21.0)
    return b + gap + rng.normal(0.0, sd, len(b)), b


def test_a_loss_is_that_of_a_line_through_the_losses_before():
    rng = np.random.default_rng(0)
    D = np.linspace(1e8, 1e9, 200)
    line = [(d, float(np.exp(5.0 - 0.2 * np.log(d)))) for d in D]
    assert smoothed(line, 5e8) == pytest.approx(5.0 - 0.2 * np.log(5e8), rel=1e-9)
    spread = [(d, loss * np.exp(rng.normal(0.0, 0.01))) for d, loss in line]
    assert smoothed(spread, 5e8) == pytest.approx(5.0 - 0.2 * np.log(5e8), abs=0.01)
    assert np.isnan(smoothed(line, 5e7))  # before its first loss
    assert np.isnan(smoothed(line, 2e9))  # after its last one
    few = [(1e8, 4.0), (4e8, 2.0)]
    assert smoothed(few, 2e8) == pytest.approx(0.5 * np.log(8.0))


@pytest.mark.parametrize("n", [12, 30])
def test_ends_are_predicted_as_well_as_is_claimed(n: int):
    rng, z = np.random.default_rng(1), []
    for _ in range(40):
        at, further = drawn(n, rng), drawn(20, rng)
        model = Prefixes(at, *losses(at, rng))
        a, b = losses(further, rng)
        mean, scale = model.predict(further, a)
        z.append((b - mean) / scale)
    # 99.5 % of a Student's t with 4 degrees of freedom lie below 4.6.
    assert np.mean(np.concatenate(z) > 4.6) < 0.01
    assert 0.5 < np.sqrt(np.mean(np.concatenate(z) ** 2)) < 1.6


def test_a_gap_that_nothing_explains_is_vague_and_one_odd_run_does_not_spoil_the_others():
    rng = np.random.default_rng(2)
    at, further = drawn(30, rng), drawn(20, rng)
    a, b = losses(at, rng)
    vague = Prefixes(at, a + rng.normal(0.0, 0.1, 30), b)
    assert vague.predict(further, losses(further, rng)[0])[1].min() > 0.07
    odd = a.copy()
    odd[0] += 0.5
    a_further, b_further = losses(further, rng)
    mean, _ = Prefixes(at, odd, b).predict(further, a_further)
    assert np.sqrt(np.mean((mean - b_further) ** 2)) < 0.01


def test_few_runs_and_runs_that_belie_the_model_prove_nothing():
    rng = np.random.default_rng(3)
    at = drawn(20, rng)
    a, b = losses(at, rng)
    assert Prefixes(at, a, b).proven
    few = np.arange(LEAST_RUNS - 1)
    assert not Prefixes(at.take(few), a[few], b[few]).proven
    # A few runs that go wholly other ways at the end: rare, and far beyond what is claimed.
    a[:3] += np.array([0.2, -0.3, 0.25])
    assert not Prefixes(at, a, b).proven


def test_only_hyperparameters_among_those_of_finished_runs_are_covered():
    rng = np.random.default_rng(4)
    at = drawn(20, rng)
    model = Prefixes(at, *losses(at, rng))
    further = points(np.full(3, 1e9), np.full(3, 5e10), np.array([1e-3, 1e-4, 5e-2]))
    assert model.covers(further).tolist() == [True, False, False]


def test_an_end_is_less_sure_the_further_a_run_lies_beyond_the_finished_ones():
    rng = np.random.default_rng(5)
    at = drawn(30, rng)
    model = Prefixes(at, *losses(at, rng))
    top = points(*(np.array([b, 10 * b]) for _, b in RANGES[:2]), np.full(2, 2e-3))
    scale = model.predict(top, np.ones(2))[1]
    assert scale[1] > 1.5 * scale[0]
