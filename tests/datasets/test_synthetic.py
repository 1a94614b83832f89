"""Synthetic studies: the stated truth is the truth, and a seed is a study."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from lawsmith.datasets import ReadOptions, demo_study
from lawsmith.datasets.synthetic import (
    DEMO_SHAPE,
    DEMO_SURFACE,
    Bowl,
    Shape,
    SyntheticSurface,
    make_frame,
    make_study,
)
from lawsmith.frontier import cell_minima, pareto


def test_the_demo_has_the_sizes_it_says() -> None:
    study = demo_study()
    grid = study.grid
    assert study.synthetic
    assert "synthetic" in study.title
    assert (len(grid), len(study.runs), len(study.log.replicates)) == (900, 924, 24)
    sizes = [len(np.unique(grid.column(name))) for name in ("N", "D", "lr", "batch")]
    assert sizes == [6, 7, 5, 5]
    assert len(np.unique(grid.cells(("N", "D")))) == 36
    # Equal steps in N and D make isoFLOP levels: several cells share each compute.
    assert len(grid.levels) == 12


def test_a_seed_gives_the_same_study_and_another_seed_another_noise() -> None:
    one, same, other = demo_study(0), demo_study(0), demo_study(1)
    assert np.array_equal(one.runs.loss, same.runs.loss, equal_nan=True)
    assert np.array_equal(one.grid.C, same.grid.C)
    assert not np.array_equal(one.runs.loss, other.runs.loss, equal_nan=True)


def test_diverged_runs_are_the_corner_of_high_learning_rates() -> None:
    study = demo_study()
    assert 50 < study.runs.counts()["diverged"] < 200
    grid, truth = study.grid, study.truth
    assert truth is not None
    lost = np.isnan(truth.loss)
    assert set(grid.columns["lr"][lost]) == {0.004, 0.008}
    assert grid.N[lost].mean() > grid.N[~lost].mean()
    assert np.array_equal(np.isnan(study.runs.config_loss(len(grid))), lost)


def test_the_best_of_each_cell_follows_the_law_up_to_the_spacing_of_the_grid() -> None:
    study = demo_study()
    truth, grid = study.truth, study.grid
    assert truth is not None
    best = cell_minima(grid.cells(("N", "D")), truth.loss)
    p = truth.params["chinchilla"]
    law = p["E"] + p["A"] * grid.N[best] ** -p["alpha"] + p["B"] * grid.D[best] ** -p["beta"]
    excess = truth.loss[best] / law - 1.0
    assert excess.min() >= 0.0
    assert excess.max() < 0.003


def test_a_bowl_is_zero_at_its_drifting_centre_and_grows_as_a_square() -> None:
    bowl = Bowl(1e-3, drift_N=-0.5, drift_D=0.25, curvature=0.02)
    surface = SyntheticSurface(bowls={"lr": bowl})
    N, D = np.array([1e8, 1e9]), np.array([4e10, 1e10])
    centre = 1e-3 * (N / 1e9) ** -0.5 * (D / 1e10) ** 0.25
    law = np.log(1.69 + 406.4 * N**-0.34 + 410.7 * D**-0.28)
    at = surface.mean_log_loss({"N": N, "D": D, "lr": centre})
    np.testing.assert_allclose(at, law, rtol=1e-14)
    off = surface.mean_log_loss({"N": N, "D": D, "lr": centre * np.exp(1.5)})
    np.testing.assert_allclose(off - law, 0.02 * 1.5**2, rtol=1e-12)


@pytest.mark.parametrize(
    ("alpha", "beta", "A", "B"), [(0.31, 0.31, 400, 400), (0.465, 0.155, 406.4, 410.7)]
)
def test_the_compute_law_is_the_minimum_over_every_split_of_compute(alpha, beta, A, B) -> None:
    surface = SyntheticSurface(alpha=alpha, beta=beta, A=A, B=B)
    law = surface.compute_law
    for C in (1e17, 1e20, 1e24):

        def loss(log_N: float, C: float = C) -> float:
            N = np.exp(log_N)
            return float(surface.mean_log_loss({"N": N, "D": C / (6.0 * N)}))

        best = minimize_scalar(loss, bounds=(5.0, 45.0), options={"xatol": 1e-9}, method="bounded")
        np.testing.assert_allclose(law["E"] + law["A"] * C ** law["alpha"], np.exp(best.fun))


def test_the_true_frontier_is_the_frontier_without_noise() -> None:
    study = make_study(replace(DEMO_SURFACE, noise=0.0), DEMO_SHAPE, name="quiet")
    truth = study.truth
    assert truth is not None
    seen = study.runs.config_loss(len(study.grid))
    np.testing.assert_allclose(seen, truth.loss, rtol=1e-12)
    assert np.array_equal(pareto(study.grid.C, truth.loss), truth.frontier)


def test_noise_has_the_stated_spread() -> None:
    surface = SyntheticSurface(noise=0.01)
    columns = {"N": np.full(20_000, 1e8), "D": np.full(20_000, 1e9)}
    rng = np.random.default_rng(5)
    residual = np.log(surface.sample(columns, rng)) - surface.mean_log_loss(columns)
    assert residual.std() == pytest.approx(0.01, rel=0.03)
    heavy = replace(surface, tail_df=2.5)
    tails = np.log(heavy.sample(columns, rng)) - heavy.mean_log_loss(columns)
    assert np.abs(tails).max() > 10 * np.abs(residual).max()


def test_a_diverged_run_may_report_a_huge_loss_instead() -> None:
    surface = replace(DEMO_SURFACE, diverged_loss=11.0)
    study = make_study(surface, DEMO_SHAPE, name="huge", options=ReadOptions(diverged_above=10.0))
    assert study.runs.counts()["diverged"] == demo_study().runs.counts()["diverged"]


def test_sparse_shapes_fill_their_cells_evenly() -> None:
    shape = Shape((1e8, 1e9, 4), (1e9, 1e11, 9), {"lr": (1e-4, 1e-2, 5)}, 20, 50)
    frame = make_frame(SyntheticSurface(bowls={"lr": Bowl(1e-3)}), shape, seed=2)
    sizes = frame.groupby(["N", "D"]).size()
    assert len(sizes) == 20
    assert set(sizes) == {2, 3}
    assert not frame.duplicated(["N", "D", "lr"]).any()


def test_a_filter_narrows_the_truth_with_the_study() -> None:
    study = demo_study(options=ReadOptions(where="N < 1e8"))
    assert study.truth is not None
    assert len(study.truth.loss) == len(study.grid) < 900
