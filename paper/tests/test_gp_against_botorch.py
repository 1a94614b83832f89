"""The exact GP beside BoTorch's: the same hyperparameters, and the same fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from paper.tests import botorch_model

from lawsmith.runs import Runs
from lawsmith.surrogates.base import Observations
from lawsmith.surrogates.gp import GP, KERNELS, PRIORS
from lawsmith.surrogates.gp.hyperparameters import log_likelihood, log_posterior
from lawsmith.surrogates.gp.kernel import Kernel, kernel_on
from lawsmith.surrogates.gp.model import REFITS, factor_of
from tests.surrogates.test_gp import make_grid, make_loss

EVERY_KERNEL = pytest.mark.parametrize("kernel", KERNELS)
EVERY_PRIOR = pytest.mark.parametrize("priors", list(PRIORS))


def history(seed: int, k: int):
    grid, rng = make_grid(), np.random.default_rng(seed)
    rows = rng.permutation(len(grid))[:k]
    y = make_loss(grid, rng)[rows]
    targets = Observations(rows, (y - y.mean()) / y.std(ddof=1), np.ones(k, dtype=np.int64))
    return grid, Runs.from_losses(rows, y), y, targets


def as_botorch(kernel: Kernel, eta: np.ndarray, constant: float):
    return botorch_model.Hyperparameters(
        noise=kernel.noise(eta),
        constant=constant,
        lengthscales=kernel.lengthscales(eta) if kernel.n_lengthscales else None,
        outputscale=kernel.outputscale(eta) if kernel.scaled else None,
        linear_variance=kernel.linear_variance(eta) if kernel.linear.shape[1] else None,
    )


@EVERY_KERNEL
@EVERY_PRIOR
def test_the_same_hyperparameters_give_the_same_posterior(kernel, priors):
    grid, runs, y, targets = history(1, 30)
    built = kernel_on(grid, kernel, priors)
    rng = np.random.default_rng(2)
    eta = np.maximum(built.start + 0.3 * rng.standard_normal(len(built.start)), built.least)
    likelihood, _, constant = log_likelihood(built.pairs(targets.rows), eta, targets)
    theirs = botorch_model.state_of(
        grid, runs, as_botorch(built, eta, constant), kernel=kernel, priors=priors
    )
    factor = factor_of(built, eta, targets)
    spread = y.std(ddof=1)
    mean = y.mean() + spread * factor.mean(factor.constant())
    np.testing.assert_allclose(mean, theirs.mean, atol=1e-6)
    np.testing.assert_allclose(spread * np.sqrt(factor.variance()), theirs.sd, atol=1e-6)
    assert likelihood == pytest.approx(theirs.log_likelihood, abs=1e-6)
    # BoTorch keeps the constants of its priors in 32 bits.
    assert built.log_prior(eta)[0] == pytest.approx(theirs.log_prior, abs=1e-5)


@EVERY_KERNEL
@EVERY_PRIOR
def test_fitted_both_reach_the_same_marginal_likelihood(kernel, priors):
    grid, runs, _, targets = history(3, 40)
    gp = GP(kernel=kernel, priors=priors, refits=replace(REFITS, first=40))
    built = kernel_on(grid, kernel, priors)
    ours = log_posterior(
        built.pairs(targets.rows), np.log(gp.hyperparameters(grid, runs)), targets
    )[0]
    theirs = botorch_model.polished_state(grid, runs, kernel=kernel, priors=priors)
    assert ours >= theirs.log_posterior - 1e-3
    # Without priors BoTorch may stop anywhere on the long flat slope of a growing outputscale.
    if priors != "free":
        assert ours <= theirs.log_posterior + 0.01


def test_fitted_both_predict_the_same():
    grid, runs, y, _ = history(4, 40)
    ours = GP(priors="lognormal", refits=replace(REFITS, first=40)).fit(grid, runs)
    theirs = botorch_model.fitted_state(grid, runs, kernel="matern", priors="lognormal")
    np.testing.assert_allclose(ours.mean, theirs.mean, atol=2e-3 * y.std())
    np.testing.assert_allclose(ours.sd, theirs.sd, atol=2e-3 * y.std())


def test_the_search_begins_where_botorch_begins():
    grid, runs, _, _ = history(5, 12)
    for priors in PRIORS:
        built = kernel_on(grid, "matern+linear", priors)
        start = botorch_model.start_state(grid, runs, kernel="matern+linear", priors=priors).hyper
        np.testing.assert_allclose(built.lengthscales(built.start), start.lengthscales, rtol=1e-6)
        assert built.noise(built.start) == pytest.approx(start.noise, rel=1e-6)


@EVERY_PRIOR
def test_refits_that_start_warm_lose_nothing_against_botorchs_cold_ones(priors):
    """Along a history, at the last refit of the default refits."""
    grid, rng = make_grid(), np.random.default_rng(6)
    loss, order = make_loss(grid, rng), rng.permutation(len(grid))
    gp = GP(priors=priors)
    n = gp.refits.points(60)[-1]
    runs = Runs.from_losses(order[:n], loss[order[:n]])
    y = loss[order[:n]]
    targets = Observations(order[:n], (y - y.mean()) / y.std(ddof=1), np.ones(n, dtype=np.int64))
    built = kernel_on(grid, "matern", priors)
    ours = log_posterior(
        built.pairs(targets.rows), np.log(gp.hyperparameters(grid, runs)), targets
    )[0]
    theirs = botorch_model.fitted_state(grid, runs, kernel="matern", priors=priors)
    assert ours >= theirs.log_posterior - 1e-3
