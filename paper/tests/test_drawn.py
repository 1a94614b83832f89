"""Drawn studies: another law under every seed, the plan of the twin, a truth to be checked."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.datasets.synthetic import Bowl, SyntheticSurface
from lawsmith.errors import LawsmithError
from lawsmith_paper.studies import load
from lawsmith_paper.studies.drawn import SHAPES, drawn_study


def test_the_shapes_are_the_papers_five():
    assert sorted(SHAPES) == sorted(
        ["oellm-english", "porian-hp", "steplaw", "warmstart", "oellm-multilingual"]
    )
    with pytest.raises(LawsmithError, match="shape: got 'demo'"):
        drawn_study("demo", 0)
    with pytest.raises(LawsmithError, match="noise: got 0, want a multiple above 0"):
        drawn_study("steplaw", 0, noise=0.0)


@pytest.mark.parametrize("shape", ["steplaw", "oellm-english"])
def test_the_plan_is_the_twins_and_the_losses_are_about_as_large(shape):
    twin, drawn = load(f"synthetic-{shape}"), drawn_study(shape, 3)
    for name in twin.grid.names:
        np.testing.assert_array_equal(drawn.grid.column(name), twin.grid.column(name))
    medians = [np.nanmedian(study.runs.loss) for study in (twin, drawn)]
    assert medians[1] == pytest.approx(medians[0], rel=0.1)


def test_a_seed_decides_law_optima_and_losses_and_the_noise_decides_none_of_them():
    quiet, noisy, other = (
        drawn_study("porian-hp", seed, noise=noise)
        for seed, noise in ((1, 0.5), (1, 2.0), (2, 0.5))
    )
    again = drawn_study("porian-hp", 1, noise=0.5)
    np.testing.assert_array_equal(quiet.runs.loss, again.runs.loss)
    assert quiet.truth.surface.compute_law == noisy.truth.surface.compute_law
    assert quiet.truth.surface.bowls == noisy.truth.surface.bowls
    assert noisy.truth.surface.noise == pytest.approx(4 * quiet.truth.surface.noise)
    assert quiet.truth.surface.compute_law != other.truth.surface.compute_law
    np.testing.assert_array_equal(quiet.truth.loss, noisy.truth.loss)


def test_odd_seeds_join_their_terms_and_every_third_has_heavy_tails():
    surfaces = [drawn_study("warmstart", seed).truth.surface for seed in range(6)]
    assert [s.joint == 1.0 for s in surfaces] == [True, False] * 3
    assert [np.isfinite(s.tail_df) for s in surfaces] == [False, False, True] * 2
    assert {0.4 < s.joint < 0.9 for s in surfaces[1::2]} == {True}
    assert "chinchilla" not in drawn_study("warmstart", 1).truth.params


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_the_true_best_loss_is_the_least_over_every_split_of_compute(seed):
    truth = drawn_study("oellm-multilingual", seed).truth
    for C in (1e20, 1e24):
        N = np.geomspace(1e5, 1e15, 400_001)
        least = truth.surface.best_loss(N, C / (6 * N)).min()
        assert truth.best_loss(C) == pytest.approx(least, rel=1e-9)


def test_joined_terms_lie_between_the_larger_and_the_sum():
    added = SyntheticSurface(E=0.0, A=400.0, B=300.0)
    of_N, of_D = 400.0 * 1e9**-added.alpha, 300.0 * 1e10**-added.beta
    at = {"N": np.array([1e9]), "D": np.array([1e10])}
    assert np.exp(added.mean_log_loss(at))[0] == pytest.approx(of_N + of_D)
    half = SyntheticSurface(E=0.0, A=400.0, B=300.0, joint=0.5)
    assert half.best_loss(1e9, 1e10) == pytest.approx(np.hypot(of_N, of_D))
    nearly = SyntheticSurface(E=0.0, A=400.0, B=300.0, joint=0.02)
    assert nearly.best_loss(1e9, 1e10) == pytest.approx(max(of_N, of_D), rel=1e-2)


def test_a_skewed_bowl_is_steeper_above_its_centre_and_still_zero_there():
    bowl = Bowl(1e-3, curvature=0.01, skew=0.5)
    above, centre, below = bowl.excess(1e-3 * np.exp([3.0, 0.0, -3.0]), 1e9, 1e10)
    assert centre == 0.0
    tilt = 0.5 * np.tanh(3.0)
    assert (above, below) == (pytest.approx(0.09 * (1 + tilt)), pytest.approx(0.09 * (1 - tilt)))
    even = Bowl(1e-3, curvature=0.01).excess(1e-3 * np.exp([3.0, -3.0]), 1e9, 1e10)
    np.testing.assert_allclose(even, [0.09, 0.09])
