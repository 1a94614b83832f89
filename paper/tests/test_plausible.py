"""Plausible grids, and the laws they give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lawsmith.frontier import frontier_batch, pareto
from lawsmith.grid import Grid
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.fit import fit_law
from lawsmith.replay.steps import mixed_losses
from lawsmith.runs import Runs
from lawsmith.surrogates import make_surrogate
from lawsmith.surrogates.base import Posterior
from lawsmith_paper.plausible import law_draws, mixed_law, plausible_laws, rows_in_play
from tests.synthetic import synthetic_study


def part_of_a_study(step: int):
    """A grid, the runs of every step-th of its rows, and the surface's posterior."""
    study = synthetic_study()
    grid, loss = study.grid, study.runs.config_loss(len(study.grid))
    rows = np.flatnonzero(np.isfinite(loss))[::step]
    runs = Runs.from_losses(rows, loss[rows])
    return grid, runs, make_surrogate("surface").fit(grid, runs)


def test_the_law_of_the_mixed_grid_is_that_of_its_envelope():
    grid, runs, posterior = part_of_a_study(4)
    mixed = mixed_losses(len(grid), runs, posterior)
    on = pareto(grid.C, mixed)
    alone = fit_law(get_law("LC"), {"C": grid.C[on]}, mixed[on])
    found = mixed_law(get_law("LC"), grid, runs, posterior)
    np.testing.assert_allclose(found, alone.phi, atol=1e-6)
    few = Posterior(np.zeros(len(grid)), np.ones(len(grid)), "log", 0.0)
    assert mixed_law(get_law("LC"), grid, Runs.empty(), few) is None


@pytest.mark.parametrize("law", ["LC", "chinchilla"])
def test_a_row_that_is_not_in_play_is_on_no_plausible_envelope(law):
    grid, runs, posterior = part_of_a_study(6)
    inputs = get_law(law).inputs
    rows = rows_in_play(grid, runs, posterior, inputs)
    assert 10 < len(rows) < len(grid)
    draws = np.exp(posterior.sample(400, np.random.default_rng(3)))
    draws[:, runs.index] = runs.loss
    on = frontier_batch(grid, draws, inputs)
    out = np.setdiff1d(np.arange(len(grid)), rows)
    assert on[:, out].any(axis=0).mean() < 0.02
    assert on[:, out].sum() < 0.002 * on.sum()


def test_only_the_likeliest_rows_are_kept_where_there_are_too_many():
    grid, runs, posterior = part_of_a_study(6)
    every = rows_in_play(grid, runs, posterior, ("C",))
    some = rows_in_play(grid, runs, posterior, ("C",), most=20)
    assert len(some) == 20
    assert set(some) < set(every)
    on = pareto(grid.C, mixed_losses(len(grid), runs, posterior))
    assert len(np.intersect1d(on, some)) >= 0.8 * min(len(on), 20)


def test_each_plausible_grid_has_the_law_of_its_own_envelope():
    grid, runs, posterior = part_of_a_study(4)
    law = get_law("LC")
    draws = np.exp(posterior.sample(6, np.random.default_rng(1)))
    draws[:, runs.index] = runs.loss
    start = mixed_law(law, grid, runs, posterior)
    phi = law_draws(law, grid, draws, start)
    for draw, found in zip(draws, phi, strict=True):
        on = pareto(grid.C, draw)
        alone = fit_law(law, {"C": grid.C[on]}, draw[on])
        at = law.log_inputs({"C": np.array([1e22, 1e25])})
        np.testing.assert_allclose(
            law.form.value(found[None], at), law.form.value(alone.phi[None], at), atol=1e-3
        )


def test_what_was_not_run_is_drawn_with_the_noise_of_a_run():
    grid = Grid.from_columns({"N": [1.0, 2.0, 3.0, 4.0], "D": [1.0] * 4})
    flat = Posterior(
        np.array([2.0, 1.8, 1.65, 1.53]),
        np.zeros(4),
        "log",
        0.0,
        lambda n, rng, rows: np.tile(np.array([2.0, 1.8, 1.65, 1.53])[rows], (n, 1)),
        noise=0.01,
    )
    law = get_law("LC")
    quiet = replace(flat, noise=0.0)
    rng = np.random.default_rng(5)
    spread = {
        noise: plausible_laws(law, grid, Runs.empty(), p, 200, rng).log_losses(np.log([24.0])).std()
        for noise, p in ((0.01, flat), (0.0, quiet))
    }
    # At the largest compute the law goes near the last point, whose noise is that of a run.
    assert spread[0.0] == pytest.approx(0.0, abs=1e-6)
    assert 0.004 < spread[0.01] < 0.02


def test_a_grid_known_in_full_leaves_no_doubt():
    study, law = synthetic_study(), get_law("LC")
    grid, loss = study.grid, study.runs.config_loss(len(study.grid))
    runs = Runs.from_losses(np.arange(len(grid)), loss)
    posterior = make_surrogate("surface").fit(grid, runs)
    found = plausible_laws(law, grid, runs, posterior, 5, np.random.default_rng(2))
    on = pareto(grid.C, loss)
    whole = fit_law(law, {"C": grid.C[on]}, loss[on]).phi
    np.testing.assert_allclose(found.phi, np.broadcast_to(whole, found.phi.shape), atol=1e-6)
