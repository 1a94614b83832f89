"""Fantasies: mixed grids, plausible grids, and the laws they give."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.datasets import load
from lawsmith.fantasies import grid_draws, law_draws, mixed_losses
from lawsmith.frontier import pareto
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.fit import fit_law
from lawsmith.runs import Runs, State
from lawsmith.surrogates import make_surrogate
from lawsmith.surrogates.base import Posterior


def test_observed_losses_stand_and_diverged_ones_are_out():
    def sampler(n, rng, rows):
        return np.zeros((n, len(rows)))

    posterior = Posterior(np.zeros(4), np.ones(4), "log", 0.0, sampler, noise=0.1)
    states = np.array([State.DONE, State.DIVERGED, State.PENDING])
    runs = Runs(np.array([1, 2, 3]), np.array([2.5, np.nan, np.nan]), states)
    np.testing.assert_array_equal(mixed_losses(4, runs, posterior), [1.0, 2.5, np.nan, 1.0])
    draws = grid_draws(runs, posterior, 4000, np.random.default_rng(0))
    assert np.all(draws[:, 1] == 2.5)
    assert np.isnan(draws[:, 2]).all()
    # What was not run has the noise of a run about the surface.
    assert np.log(draws[:, 0]).std() == pytest.approx(0.1, rel=0.05)


def test_each_plausible_grid_has_the_law_of_its_own_envelope():
    study, law = load("synthetic-oellm-multilingual"), get_law("LC")
    grid = study.grid
    loss = study.runs.config_loss(len(grid))
    rows = np.flatnonzero(np.isfinite(loss))[::4]
    runs = Runs.from_losses(rows, loss[rows])
    posterior = make_surrogate("trend").fit(grid, runs)
    draws = grid_draws(runs, posterior, 6, np.random.default_rng(1))
    middle = mixed_losses(len(grid), runs, posterior)
    on = pareto(grid.C, middle)
    start = fit_law(law, {"C": grid.C[on]}, middle[on]).phi
    phi = law_draws(law, grid, draws, start)
    for draw, found in zip(draws, phi, strict=True):
        on = pareto(grid.C, draw)
        alone = fit_law(law, {"C": grid.C[on]}, draw[on])
        at = law.log_inputs({"C": np.array([1e22, 1e25])})
        np.testing.assert_allclose(
            law.form.value(found[None], at), law.form.value(alone.phi[None], at), atol=1e-3
        )


def test_a_grid_known_in_full_leaves_no_doubt():
    study, law = load("synthetic-oellm-multilingual"), get_law("LC")
    grid, loss = study.grid, study.runs.config_loss(len(study.grid))
    runs = Runs.from_losses(np.arange(len(grid)), loss)
    posterior = make_surrogate("trend").fit(grid, runs)
    draws = grid_draws(runs, posterior, 5, np.random.default_rng(2))
    on = pareto(grid.C, loss)
    start = fit_law(law, {"C": grid.C[on]}, loss[on]).phi
    phi = law_draws(law, grid, draws, start)
    np.testing.assert_allclose(phi, np.broadcast_to(start, phi.shape), atol=1e-6)
