"""The minimum of noisy runs: how optimistic it is, and that the correction undoes it."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.frontier import pareto_batch
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.fit import fit_law, pad
from lawsmith.laws.noise import smooth_surface
from lawsmith.laws.objective import LEAST_SQUARES_LOG
from lawsmith.laws.selection import correct_selection
from lawsmith.laws.uncertainty import law_uncertainty
from tests.laws.test_forms import EXAMPLES

LC = get_law("LC")
LEVELS, RUNS = 16, 35
C = np.geomspace(1e18, 3e21, LEVELS)
LR, BATCH = (v.ravel() for v in np.meshgrid(np.arange(5) - 2.0, np.arange(7) - 3.0))
BOWLS = {"flat": 0 * LR, "bowl": 0.004 * LR**2 + 0.0015 * BATCH**2}


def study(kind: str, sd: float, seed: int):
    rng = np.random.default_rng(seed)
    best = np.log(LC.predict(EXAMPLES["LC"], {"C": C}))
    y = (best[:, None] + BOWLS[kind] + sd * rng.standard_normal((LEVELS, RUNS))).ravel()
    hp = np.tile(np.stack([LR, BATCH], axis=1), (LEVELS, 1)) / 6
    cells = np.repeat(np.arange(LEVELS), RUNS)
    scale = np.repeat(np.linspace(0, 1, LEVELS), RUNS)[:, None]
    return y, hp, scale, cells


def floor(mean: np.ndarray) -> np.ndarray:
    least = mean.reshape(LEVELS, RUNS).min(axis=1)
    return np.repeat(np.minimum.accumulate(least), RUNS)


def correct(kind: str, sd: float, seed: int):
    y, hp, scale, cells = study(kind, sd, seed)
    x = np.repeat(np.log(C), RUNS)
    surface = smooth_surface(y, hp, scale, cells, floor=floor)
    assert surface is not None
    on = pareto_batch(np.exp(x), np.exp(y)[None])[0]
    raw = fit_law(LC, {"C": np.exp(x[on])}, np.exp(y[on]), objective=LEAST_SQUARES_LOG)
    plain = law_uncertainty(raw)
    assert plain is not None
    freed = correct_selection(
        plain,
        x[None],
        np.exp(y),
        surface,
        lambda rows: lambda losses: pareto_batch(np.exp(x[rows]), losses),
        rng=np.random.default_rng(seed),
    )
    assert freed is not plain
    return raw, freed, surface


@pytest.mark.parametrize("kind", BOWLS)
@pytest.mark.parametrize("sd", [0.001, 0.005])
def test_the_noise_of_a_run_is_told_from_the_bowl(kind: str, sd: float) -> None:
    found = [smooth_surface(*study(kind, sd, seed), floor=floor).noise_sd for seed in range(10)]
    assert np.mean(found) == pytest.approx(sd, rel=0.06)


def test_the_optimism_of_equal_runs_is_that_of_the_least_of_35_normals() -> None:
    rng = np.random.default_rng(0)
    want = rng.standard_normal((20_000, RUNS)).min(axis=1).mean()  # −2.1
    shifts = [correct("flat", 0.001, seed)[1].shift / 0.001 for seed in range(6)]
    assert np.mean(shifts) == pytest.approx(want, abs=0.1)


@pytest.mark.parametrize("kind", BOWLS)
def test_the_correction_removes_the_bias_and_its_interval_covers(kind: str) -> None:
    sd, target = 0.003, {"C": 3e22}
    truth = float(np.log(LC.predict(EXAMPLES["LC"], target)[0]))
    rows = []
    for seed in range(60):
        raw, freed, _ = correct(kind, sd, seed)
        f, jac = LC.form.value_and_jac(freed.phi[None], LC.log_inputs(target))
        se = float(np.sqrt(jac[0, :, 0] @ freed.cov @ jac[0, :, 0]))
        error = float(f[0, 0]) - truth
        rows.append([np.log(raw.predict(target)[0]) - truth, error, abs(error) < 2.16 * se])
    before, after, covered = np.mean(rows, axis=0)
    assert before < -0.6 * sd
    assert abs(after) < 0.25 * sd
    assert covered > 0.85


def test_no_noise_needs_no_correction() -> None:
    raw, freed, surface = correct("bowl", 1e-7, 0)
    np.testing.assert_allclose(freed.phi, raw.phi, atol=1e-3)
    assert surface.noise_sd < 1e-3


def test_too_few_runs_to_tell_noise_give_no_surface() -> None:
    y = np.log(LC.predict(EXAMPLES["LC"], {"C": C[:6]}))
    cells = np.arange(6)
    scale = np.linspace(0, 1, 6)[:, None]
    assert smooth_surface(y, np.empty((6, 0)), scale, cells, floor=lambda m: m) is None


def test_a_run_gone_wrong_does_not_set_the_noise() -> None:
    y, hp, scale, cells = study("bowl", 0.001, 3)
    y[::35] += 0.5  # one run of each level diverged
    assert smooth_surface(y, hp, scale, cells, floor=floor).noise_sd < 0.0015


def test_padding_keeps_each_frontiers_points_in_order() -> None:
    chosen = np.array([[True, False, True, True], [False, True, False, False]])
    index, weights = pad(chosen)
    np.testing.assert_array_equal(weights, [[1, 1, 1], [1, 0, 0]])
    np.testing.assert_array_equal(index[0], [0, 2, 3])
    np.testing.assert_array_equal(index[1], [1, 1, 1])
